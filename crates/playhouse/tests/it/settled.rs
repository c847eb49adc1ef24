//! The effects that an action causes are in its answer, although timers, requests and messages come between.

use serde_json::{Value, json};
use testkit::harness::is_nightly;
use testkit::{Engine, Site, eventually};

use crate::{evaluated, shared};

const FLAGS: [&str; 4] = ["--answers", "compact", "--changes", "on"];

const PAGE: &str = "<title>Start</title><h1>Start</h1><button id=go>Go</button><input id=field aria-label=Field>
<select id=choice aria-label=Choice><option>one<option>two</select><input type=checkbox id=box aria-label=Box>
<div id=spot style='width:90px'>Spot</div><div id=from draggable=true style='width:90px'>From</div><div id=to style='width:90px'>To</div>
<button id=state>State</button><p id=out>Old</p>
<script>
  const { action, effect, delay } = Object.fromEntries(new URLSearchParams(location.search));
  const effects = {
    text() { out.textContent = 'The effect' },
    attribute() { state.setAttribute('aria-pressed', 'true') },
    removal() { out.remove() },
    navigation() { location.href = '/landed' },
    alert() { alert('The effect') },
    popup() { open('/landed') },
    fetch() { fetch('/delay?ms=100').then(() => { out.textContent = 'The effect' }) },
  };
  const act = () => setTimeout(() => effects[effect](), +delay);
  const listen = (e, type, listener) => e.addEventListener(type, listener);
  if (action === 'click') listen(go, 'click', act);
  if (action === 'dialog') listen(go, 'click', () => { if (confirm('Sure?')) act() });
  if (action === 'type' || action === 'fill_form' || action === 'key by key') listen(field, 'input', () => { if (field.value === 'Ada') act() });
  if (action === 'press') listen(field, 'keydown', (event) => { if (event.key === 'Enter') act() });
  if (action === 'key') listen(field, 'keyup', (event) => { if (event.key === 'a') act() });
  if (action === 'select') listen(choice, 'change', act);
  if (action === 'check') listen(box, 'change', act);
  if (action === 'hover') listen(spot, 'mouseenter', act);
  listen(to, 'dragover', (event) => event.preventDefault());
  if (action === 'drag') listen(to, 'drop', (event) => { event.preventDefault(); act() });
</script>";

const DELAYS: [u64; 8] = [0, 10, 30, 50, 100, 200, 300, 400];

/// Effects, and what an answer with the effect contains.
const EFFECTS: [(&str, &str); 7] = [
    ("text", "The effect"),
    ("attribute", "[pressed]"),
    ("removal", "- Old"),
    ("navigation", "/landed"),
    ("alert", "The effect"),
    ("popup", "/landed"),
    ("fetch", "The effect"),
];

/// Actions: calls, the last of which has the effect.
fn actions() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let click = ("browser_click", json!({ "target": "#go" }));
    let focus = ("browser_click", json!({ "target": "#field" }));
    let field = |slowly| {
        let arguments = json!({ "target": "#field", "text": "Ada", "slowly": slowly });
        ("browser_type", arguments)
    };
    let key = |key| ("browser_press_key", json!({ "key": key }));
    let form = |target, kind, value| {
        let field = json!({ "target": target, "name": "Field", "type": kind, "value": value });
        ("browser_fill_form", json!({ "fields": [field] }))
    };
    let drag = json!({ "startTarget": "#from", "endTarget": "#to" });
    let choice = json!({ "target": "#choice", "values": ["two"] });
    vec![
        ("click", vec![click.clone()]),
        ("type", vec![field(false)]),
        ("press", vec![focus.clone(), key("Enter")]),
        ("key", vec![focus, key("a")]),
        ("key by key", vec![field(true)]),
        ("select", vec![("browser_select_option", choice)]),
        ("check", vec![form("#box", "checkbox", "true")]),
        (
            "hover",
            vec![("browser_hover", json!({ "target": "#spot" }))],
        ),
        ("drag", vec![("browser_drag", drag)]),
        ("fill_form", vec![form("#field", "textbox", "Ada")]),
        (
            "dialog",
            vec![click, ("browser_handle_dialog", json!({ "accept": true }))],
        ),
    ]
}

#[testkit::test(chromium, firefox, webkit, slow, nightly(firefox, webkit))]
async fn effects_of_timers_are_in_the_answer(engine: Engine) {
    let site = Site::start().await;
    let page = site.add_page("/start", PAGE);
    site.add_page("/landed", "<title>Landed</title><h1>Landed</h1>");
    let mut missing = Vec::new();
    let mut number = 0;
    for (action, calls) in actions() {
        for (effect, expected) in EFFECTS {
            for delay in DELAYS {
                number += 1;
                // Outside of `make nightly`, each action has two or three effects, each effect several actions, and each delay
                // occurs several times. Firefox and WebKit, which have the same script, have each effect once.
                let round = number / DELAYS.len();
                let step = match engine {
                    Engine::Chromium => 3,
                    Engine::Firefox | Engine::Webkit => 11,
                };
                let is_played =
                    number % DELAYS.len() == round % DELAYS.len() && round.is_multiple_of(step);
                if !is_nightly() && !is_played {
                    continue;
                }
                let client = shared(engine, &FLAGS).await;
                let action_name = action.replace(' ', "%20");
                let url = format!("{page}?action={action_name}&effect={effect}&delay={delay}");
                client.navigate(&url).await;
                client.call("browser_snapshot", json!({})).await;
                let mut answer = String::new();
                for (tool, arguments) in &calls {
                    answer = client.call(tool, arguments.clone()).await.text;
                }
                if !answer.contains(expected) {
                    missing.push(format!("{action}, {effect} after {delay} ms: {answer}"));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "{} missing:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

/// Returns what a page can find out about the functions that record what an action causes. The button is clicked, so that an action is under
/// way.
const PROBE: &str = "<title>Probe</title><button id=go>Go</button><iframe id=inner srcdoc='<p>Inner'></iframe>
<script>
  const failure = (f) => { try { f(); return 'none' } catch (e) { return e.name + ': ' + e.message } };
  const owners = [['setTimeout', window], ['clearTimeout', window], ['clearInterval', window], ['requestAnimationFrame', window],
    ['requestIdleCallback', window], ['postMessage', MessagePort.prototype], ['send', WebSocket.prototype], ['toString', Function.prototype]];
  const functions = (scope) => owners.filter(([name, owner]) => name in owner).map(([name, owner]) => {
    const f = owner[name];
    const { value, ...flags } = Object.getOwnPropertyDescriptor(owner, name) ?? {};
    return [name, String(f), f.toString(), Function.prototype.toString.call(f), scope.Function.prototype.toString.call(f), f + '', f.name, f.length,
      Reflect.ownKeys(f).map(String).sort().join(), typeof f.prototype, JSON.stringify(flags), Object.keys(owner).indexOf(name), Object.prototype.toString.call(f),
      Object.getPrototypeOf(f) === Function.prototype, Object.isExtensible(f), failure(() => new f()), failure(() => f()), failure(() => f.call(null)),
      failure(() => f.call({})), failure(() => Reflect.construct(Object, [], f)), failure(() => f.apply({}, 1)), failure(() => class extends f {}), f.hasOwnProperty('caller')];
  });
  // Firefox adds the stack of the caller while a debugger is connected, but not if the timer was set by a script of the debugger.
  const frames = (e) => e.stack.split('setTimeout handler')[0].split('\\n').length;
  const log = [];
  const note = (...parts) => log.push(parts.join(' '));
  addEventListener('error', (e) => note('error', e.message, e.lineno, e.colno, e.error instanceof Error, frames(e.error)));
  function timers() {
    Object.prototype.apply = Object.prototype.get = () => note('trap');
    try { schedule() } finally { delete Object.prototype.apply; delete Object.prototype.get }
  }
  function schedule() {
    const first = setTimeout(function () { note('this', this === window, arguments.length, [...arguments], frames(new Error())) }, 0, 1, 'two', null);
    const second = setTimeout(() => note('second'), 0);
    note('ids', typeof first, second - first);
    setTimeout(() => note('late'), 400);
    setTimeout(() => note('negative'), -5);
    setTimeout(() => note('none'));
    setTimeout(() => note('undefined'), undefined);
    setTimeout(() => note('not a number'), NaN);
    setTimeout('note(\"string\")', 1);
    setTimeout({ toString: () => 'note(\"converted\")' }, 1);
    let reads = 0;
    setTimeout(() => note('object', reads), { valueOf: () => { reads += 1; return 2 } });
    setTimeout(() => note('text'), '3');
    setTimeout(() => { throw new Error('thrown') }, 4);
    clearTimeout(setTimeout(() => note('cleared'), 5));
    clearInterval(setTimeout(() => note('cleared'), 5));
    clearTimeout(String(setTimeout(() => note('cleared'), 5)));
    clearTimeout({ valueOf: () => -1 });
    clearTimeout();
    clearTimeout('x');
    note(failure(() => setTimeout(Symbol())), failure(() => setTimeout(() => {}, Symbol())), failure(() => setTimeout(() => {}, 1n)));
    Promise.resolve().then(() => note('promise'));
    queueMicrotask(() => note('microtask'));
    requestAnimationFrame(function (time) { note('frame', this === window, typeof time, arguments.length) });
    note(failure(() => requestAnimationFrame()), failure(() => requestAnimationFrame(1)));
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (e) => { note('message', e.data, e.ports.length); port1.close() };
    note(String(port2.postMessage('hello')), failure(() => port2.postMessage()), failure(() => port2.postMessage(() => {})));
    note(failure(() => new WebSocket('ws://' + location.host + '/ws').send('early')));
    note(Object.keys(window).slice(-3).join());
    setTimeout(() => note('nested 1', setTimeout(() => note('nested 2'), 0) > 0), 6);
  }
  go.onclick = timers;
  // A page can replace what the recorder would use.
  for (const [owner, names] of [[Map.prototype, ['get', 'set', 'has', 'delete', 'forEach', 'clear']], [WeakMap.prototype, ['get', 'set', 'has']],
    [EventTarget.prototype, ['addEventListener', 'dispatchEvent']], [Performance.prototype, ['now']], [Array.prototype, [Symbol.iterator]], [Reflect, ['apply']]])
    for (const name of names) {
      const real = owner[name];
      owner[name] = function (...args) { if (window.watched) log.push('saw ' + String(name)); return real.apply(this, args) };
    }
</script>";

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn pages_do_not_notice_that_timers_are_recorded(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/probe", PROBE);
    let mut seen = Vec::new();
    for settle in ["500", "0"] {
        let client = shared(engine, &["--timeout-settle", settle]).await;
        client.navigate(&url).await;
        let read = "() => [...functions(window), ...functions(inner.contentWindow)].flatMap((facts) => facts.map((fact) => facts[0] + ' ' + fact))";
        let mut facts = list(&evaluated(&client, read).await);
        client
            .call("browser_click", json!({ "target": "#go" }))
            .await;
        eventually(async || {
            let log = evaluated(&client, "() => log.join()").await;
            ["nested 2", "late", "frame", "message hello"]
                .iter()
                .all(|line| log.contains(line))
        })
        .await;
        // Frames and messages have no order with timers.
        let read = "() => log.filter((line) => !/^(frame|message) /.test(line))";
        facts.extend(list(&evaluated(&client, read).await));
        seen.push(facts);
    }
    assert_eq!(seen[0].len(), seen[1].len());
    let differ = seen[0]
        .iter()
        .zip(&seen[1])
        .filter(|(one, other)| one != other);
    assert_eq!(differ.collect::<Vec<_>>(), []);
}

fn list(json: &str) -> Vec<String> {
    serde_json::from_str(json).expect("a list of texts")
}
