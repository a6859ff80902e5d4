/// Events of the agents, ordered by time (a binary heap).
struct EventQueue {
    struct Event {
        /// Nanoseconds of the virtual clock.
        let time: UInt64
        let agent: Int
        let kind: Kind
    }

    enum Kind {
        /// The end of an interval: its batches wait.
        case seal
        /// The time that the agent has set for its next upload.
        case turn
        /// The end of the current upload.
        case end
    }

    private var heap: [Event] = []

    mutating func add(_ event: Event) {
        heap.append(event)
        var child = heap.count - 1
        while child > 0, heap[child].time < heap[(child - 1) / 2].time {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> Event? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if heap.isEmpty { return first }
        heap[0] = last
        var parent = 0
        while true {
            let (left, right) = (2 * parent + 1, 2 * parent + 2)
            var smallest = parent
            if left < heap.count, heap[left].time < heap[smallest].time { smallest = left }
            if right < heap.count, heap[right].time < heap[smallest].time { smallest = right }
            if smallest == parent { return first }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
