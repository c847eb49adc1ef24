//! Dominators of a graph, by which the memory that an object retains is known: what would be freed with it.

/// A graph in compressed form: the successors of node `n` are `targets[starts[n]..starts[n + 1]]`. Node 0 is the root.
pub(super) struct Graph {
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
}

/// The mark of a node that the root does not reach.
pub(super) const UNREACHED: u32 = u32::MAX;

/// The nodes in an order in which each comes after its dominator, and the immediate dominator of each node.
pub(super) struct Dominators {
    pub(super) order: Vec<u32>,
    pub(super) of: Vec<u32>,
}

impl Graph {
    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn successors(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Computes the dominators by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
    pub(super) fn dominators(&self) -> Dominators {
        let order = self.reverse_postorder();
        let mut position = vec![UNREACHED; self.len()];
        for (index, node) in (0..).zip(&order) {
            position[*node as usize] = index;
        }
        let predecessors = self.reversed(&position);
        // Dominators by the positions of their nodes in the order.
        let mut dominators = vec![UNREACHED; order.len()];
        if let Some(root) = dominators.first_mut() {
            *root = 0;
        }
        loop {
            let mut is_changed = false;
            for index in 1..order.len() {
                let mut new = UNREACHED;
                for predecessor in predecessors.successors(order[index]) {
                    let candidate = position[*predecessor as usize];
                    if dominators[candidate as usize] == UNREACHED {
                        continue;
                    }
                    new = match new {
                        UNREACHED => candidate,
                        known => common(&dominators, known, candidate),
                    };
                }
                if dominators[index] != new {
                    dominators[index] = new;
                    is_changed = true;
                }
            }
            if !is_changed {
                break;
            }
        }
        let mut of = vec![UNREACHED; self.len()];
        for (node, dominator) in order.iter().zip(dominators) {
            of[*node as usize] = order[dominator as usize];
        }
        Dominators { order, of }
    }

    /// Returns the nodes that the root reaches, in reverse postorder of a depth-first search.
    fn reverse_postorder(&self) -> Vec<u32> {
        let mut is_seen = vec![false; self.len()];
        let mut order = Vec::new();
        let mut stack: Vec<(u32, usize)> = Vec::new();
        if let Some(root) = is_seen.first_mut() {
            *root = true;
            stack.push((0, 0));
        }
        while let Some((node, next)) = stack.last_mut() {
            let Some(successor) = self.successors(*node).get(*next) else {
                order.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut is_seen[*successor as usize], true) {
                stack.push((*successor, 0));
            }
        }
        order.reverse();
        order
    }

    /// Returns the graph of the reached nodes with its edges reversed.
    fn reversed(&self, position: &[u32]) -> Self {
        let reached = (0..).zip(position).filter(|(_, at)| **at != UNREACHED);
        let reached = || reached.clone().map(|(node, _)| node);
        let mut starts = vec![0_u32; self.len() + 1];
        for node in reached() {
            for successor in self.successors(node) {
                starts[*successor as usize + 1] += 1;
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut targets = vec![0; starts.last().copied().unwrap_or(0) as usize];
        let mut free = starts.clone();
        for node in reached() {
            for successor in self.successors(node) {
                let slot = &mut free[*successor as usize];
                targets[*slot as usize] = node;
                *slot += 1;
            }
        }
        Self { starts, targets }
    }
}

impl Dominators {
    /// Returns the graph in which the successors of a node are the nodes that it immediately dominates.
    pub(super) fn tree(&self) -> Graph {
        let mut upward = Graph {
            starts: vec![0],
            targets: Vec::new(),
        };
        for (node, dominator) in (0_u32..).zip(&self.of) {
            if *dominator != UNREACHED && *dominator != node {
                upward.targets.push(*dominator);
            }
            let end = upward.starts[node as usize];
            let count = u32::from(*dominator != UNREACHED && *dominator != node);
            upward.starts.push(end + count);
        }
        upward.reversed(&self.of)
    }
}

/// Returns the nearest common dominator of two nodes, by their positions.
fn common(dominators: &[u32], mut one: u32, mut other: u32) -> u32 {
    while one != other {
        while one > other {
            one = dominators[one as usize];
        }
        while other > one {
            other = dominators[other as usize];
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[u32]]) -> Graph {
        let mut graph = Graph {
            starts: vec![0],
            targets: Vec::new(),
        };
        for targets in edges {
            graph.targets.extend_from_slice(targets);
            graph
                .starts
                .push(u32::try_from(graph.targets.len()).unwrap());
        }
        graph
    }

    #[test]
    fn a_node_is_dominated_by_what_all_its_paths_pass() {
        // 0 → 1, 2; 1 → 3; 2 → 3; 3 → 4 → 5 → 3; 6 is not reached and refers to 4.
        let dominators = graph(&[&[1, 2], &[3], &[3], &[4], &[5], &[3], &[4]]).dominators();
        assert_eq!(dominators.of, [0, 0, 0, 0, 3, 4, UNREACHED]);
        assert_eq!(dominators.order.len(), 6);
    }
}
