/// A gate that tasks wait at until it opens.
actor Gate {
    private var isOpen = false
    private var hasArrival = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var watching: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        hasArrival = true
        for continuation in watching { continuation.resume() }
        watching = []
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }

    /// Returns when a task has arrived at the gate.
    func arrived() async {
        if !hasArrival { await withCheckedContinuation { watching.append($0) } }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
