//! A network of its own for a test: an interface without neighbours, and a name server that records the names that it is asked for.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::{env, fs, thread};

use crate::engine::Engine;
use crate::prerequisites::variable;

/// The variable that a test has in its own network.
const INSIDE: &str = "TESTKIT_OWN_NETWORK";

/// Prepares the network and executes the command. The interface is one for multicast, which the loopback interface is not.
const SETUP: &str = "set -e
ip link set lo up
ip link add own0 type veth peer name own1
ip address add 192.0.2.1/24 dev own0
ip link set own1 up
ip link set own0 up
ip route add default via 192.0.2.2 dev own0
names=$(mktemp)
echo 'nameserver 127.0.0.1' > $names
mount --bind $names /etc/resolv.conf
rm $names
exec \"$@\"";

/// The network of a test.
pub struct Network {
    names: Arc<Mutex<BTreeSet<String>>>,
}

impl Network {
    /// Runs the test with this path, the one that calls, again in a network of its own. Returns the network there, and `None` here, after
    /// the test there has passed.
    ///
    /// # Panics
    /// If the test there fails.
    pub fn enter(test: &str, engine: Engine) -> Option<Self> {
        if variable(INSIDE).is_some() {
            return Some(Self::new());
        }
        let program = env::current_exe().expect("the path of this program");
        let program = program.to_string_lossy();
        let name = format!("{test}::{}", engine.name());
        let output = in_namespace(&[&*program, &name, "--exact", "--include-ignored"]);
        let [out, errors] =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).expect("text"));
        let passed = output.status.success() && out.contains("1 passed");
        assert!(passed, "in a network of its own:\n{out}\n{errors}");
        None
    }

    fn new() -> Self {
        let server = UdpSocket::bind(("127.0.0.1", 53)).expect("the port of name servers");
        let names = Arc::<Mutex<BTreeSet<String>>>::default();
        let asked = names.clone();
        thread::spawn(move || {
            let mut query = [0; 1_500];
            while let Ok(length) = server.recv(&mut query) {
                asked
                    .lock()
                    .expect("not poisoned")
                    .insert(name(&query[..length]));
            }
        });
        Self { names }
    }

    /// Returns the names that programs have asked for.
    ///
    /// # Panics
    /// If the name server has panicked.
    pub fn names(&self) -> BTreeSet<String> {
        self.names.lock().expect("not poisoned").clone()
    }

    /// Returns the number of datagrams that programs have sent: queries of names by DNS and mDNS, WebRTC, QUIC.
    ///
    /// # Panics
    /// If the system does not report it.
    pub fn datagrams(&self) -> u64 {
        let read = |path| fs::read_to_string(path).expect("the counters of the network");
        let newer = read("/proc/net/snmp6");
        let newer = newer
            .lines()
            .find_map(|line| line.strip_prefix("Udp6OutDatagrams"));
        let older = read("/proc/net/snmp");
        let mut older = older.lines().filter_map(|line| line.strip_prefix("Udp: "));
        let (titles, values) = (older.next().expect("titles"), older.next().expect("values"));
        let mut columns = titles.split(' ').zip(values.split(' '));
        let sent = columns.find(|(title, _)| *title == "OutDatagrams");
        let counts = [newer.unwrap_or("0"), sent.expect("a counter").1];
        counts
            .iter()
            .map(|count| count.trim().parse::<u64>().expect("a number"))
            .sum()
    }
}

/// Returns whether this process may have a network of its own.
pub(crate) fn is_permitted() -> bool {
    variable(INSIDE).is_some() || in_namespace(&["true"]).status.success()
}

fn in_namespace(command: &[&str]) -> Output {
    #[expect(
        clippy::disallowed_methods,
        reason = "it ends before this function returns"
    )]
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    unshare
        .args(["--net", "--mount", "sh", "-c", SETUP, "sh"])
        .args(command)
        .env(INSIDE, "1")
        .output()
        .unwrap_or_else(|error| panic!("unshare: {error}"))
}

/// Returns the name in a query.
fn name(query: &[u8]) -> String {
    let mut labels = Vec::new();
    let mut rest = query.get(12..).unwrap_or_default();
    while let Some((&length, after)) = rest.split_first() {
        let Some((label, next)) = after.split_at_checked(length.into()).filter(|_| length > 0)
        else {
            break;
        };
        labels.push(String::from_utf8_lossy(label).into_owned());
        rest = next;
    }
    labels.join(".")
}
