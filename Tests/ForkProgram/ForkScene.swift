import Foundation
import Martlet
import Synchronization

/// The ways in which a service forks. Each scene plays to its end and says how many children ended badly.
enum ForkScene: String {
    /// A server that forks its workers ahead of the first request, and makes requests as well.
    case workers
    /// An idle parent with a busy child; the parent makes its own requests afterwards.
    case busyChild
    /// Children that record, forked while threads of the parent record.
    case underLoad
    /// A parent that ends after the fork.
    case daemon
    /// A child that forks children.
    case grandchildren
    /// A parent that goes on after its child has crashed.
    case crashing
    /// A parent that has used queues of Dispatch, whose threads the child does not have.
    case queues
    /// A parent with rules, whose child makes requests at once.
    case rules
    /// A service that closes all descriptors that it does not know and uses their numbers, as daemons do.
    case closing
    /// A service that makes no requests and prints the traces of the agent in its process: blocked signals, locked
    /// memory, descriptors.
    case idle
    /// A service without a standard input that counts how often a file or a connection that can be written has its number.
    case closedInput

    func play(_ load: Load, _ requests: Int) throws -> Int {
        let descriptors = Self.descriptors
        if self == .closedInput { close(STDIN_FILENO) }
        if self == .idle { Self.unblockSignals() }
        let agent = MartletAgent.start()
        switch self {
        case .workers: return try workers(agent, load, requests)
        case .busyChild: return try busyChild(agent, load, requests)
        case .underLoad: return underLoad(agent, requests)
        case .daemon: return daemon(agent, load, requests)
        case .grandchildren: return try grandchildren(agent, load, requests)
        case .crashing: return try crashing(agent, load, requests)
        case .queues: return queues(agent, requests)
        case .rules: return try rules(agent, load, requests)
        case .closing: return closing(agent, load, requests, descriptors)
        case .idle: return try idle(agent, descriptors)
        case .closedInput: return closedInput(agent, requests)
        }
    }

    private func closedInput(_ agent: MartletAgent, _ requests: Int) -> Int {
        let sightings = Mutex(0)
        let isOver = Mutex(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread {
            while !isOver.withLock({ $0 }) {
                let file = Self.file(STDIN_FILENO)
                let flags = fcntl(STDIN_FILENO, F_GETFL)
                // Dispatch keeps a file of events. The agent holds the number for a moment while libcurl opens its
                // descriptors.
                guard let file, flags >= 0, flags & O_ACCMODE != O_RDONLY, file == Self.file(STDIN_FILENO) else {
                    continue
                }
                if !file.hasPrefix("anon_inode:"), file != "/dev/null" { sightings.withLock { $0 += 1 } }
            }
            hasEnded.signal()
        }.start()
        for _ in 0..<requests {
            Load.record(1, at: "closed")
            agent.flushNow()
        }
        isOver.withLock { $0 = true }
        hasEnded.wait()
        agent.shutdownNow()
        return sightings.withLock { $0 }
    }

    private func workers(_ agent: MartletAgent, _ load: Load, _ requests: Int) throws -> Int {
        let children = (1...2).map { number in
            Fork.child {
                try load.make(requests, as: "worker-\(number)")
                agent.shutdownNow()
            }
        }
        try load.make(requests, as: "worker-0")
        agent.shutdownNow()
        return Fork.await(children)
    }

    private func crashing(_ agent: MartletAgent, _ load: Load, _ requests: Int) throws -> Int {
        let child = Fork.child {
            try load.make(requests, as: "child")
            agent.flushNow()
            fatalError("the child crashes")
        }
        let failures = Fork.await([child])
        try load.make(requests, as: "parent")
        agent.shutdownNow()
        return failures
    }

    private func busyChild(_ agent: MartletAgent, _ load: Load, _ requests: Int) throws -> Int {
        Load.record(requests, at: "before")
        let child = Fork.child {
            try load.make(requests, as: "child")
            agent.flushNow()
            agent.shutdownNow()
        }
        let failures = Fork.await([child])
        try load.make(requests, as: "parent")
        agent.flushNow()
        guard agent.status.ledger.captured == 2 * requests, agent.status.ledger.waiting == 0 else {
            return failures + 1
        }
        agent.shutdownNow()
        return failures
    }

    private func underLoad(_ agent: MartletAgent, _ children: Int) -> Int {
        for thread in 0..<4 {
            Thread {
                while true {
                    Load.record(10, at: "parent-\(thread)")
                    usleep(1000)
                }
            }.start()
        }
        // A static or metadata that Swift is initializing during a fork never gets initialized in the child.
        while agent.status.ledger.delivered == 0 { usleep(10_000) }
        var failures = 0
        for _ in 0..<children {
            let child = Fork.child {
                Load.record(10, at: "child")
                agent.flushNow()
                guard agent.status.ledger.captured == 10 else { throw CancellationError() }
                agent.shutdownNow()
            }
            failures += Fork.await([child])
        }
        return failures
    }

    /// Forks as `daemon(3)` does; nobody waits for the child but the reader of its output.
    private func daemon(_ agent: MartletAgent, _ load: Load, _ requests: Int) -> Int {
        let child = Fork.child {
            setsid()
            try load.make(requests, as: "daemon")
            agent.flushNow()
            print(agent.status.ledger.delivered)
            agent.shutdownNow()
        }
        _exit(child > 0 ? 0 : 1)
    }

    /// Records spans in the child: neither a session nor a Swift task works in such a child, with or without the agent.
    private func queues(_ agent: MartletAgent, _ requests: Int) -> Int {
        let isUsed = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { isUsed.signal() }
        isUsed.wait()
        let child = Fork.child {
            Load.record(requests, at: "child")
            while agent.status.ledger.delivered < requests { usleep(10_000) }
        }
        let failures = Fork.await([child])
        return failures + (agent.status.ledger.captured == 0 ? 0 : 1)
    }

    private func rules(_ agent: MartletAgent, _ load: Load, _ requests: Int) throws -> Int {
        let rules = agent.status.rules
        let child = Fork.child {
            // The thread of the child's agent, which reads the file, has only just begun.
            guard agent.status.rules == rules else { throw CancellationError() }
            try load.make(requests, as: "child")
            agent.shutdownNow()
        }
        let failures = Fork.await([child])
        agent.shutdownNow()
        return failures + (rules == 1 ? 0 : 1)
    }

    private func closing(
        _ agent: MartletAgent, _ load: Load, _ requests: Int, _ before: Set<Int32>
    ) -> Int {
        Load.record(requests, at: "before")
        while agent.status.ledger.delivered < requests || Self.descriptors != before { usleep(10_000) }
        for number: Int32 in 3..<1024 { close(number) }
        let files = (0..<16).map { number in
            open(load.ended.appendingPathComponent("own-\(number)").path, O_CREAT | O_EXCL | O_RDWR, 0o600)
        }
        Load.record(requests, at: "after")
        while agent.status.ledger.delivered < 2 * requests { usleep(10_000) }
        agent.shutdownNow()
        return files.count { file in
            var status = stat()
            return fstat(file, &status) != 0 || status.st_size != 0 || status.st_mode & S_IFMT != S_IFREG
        }
    }

    /// Prints the signals that the agent's thread and threads made by it block, and the locked memory in KiB.
    ///
    /// - Returns: The number of descriptors that the agent holds between its uploads.
    private func idle(_ agent: MartletAgent, _ before: Set<Int32>) throws -> Int {
        var tries = 200
        Load.record(1, at: "idle")
        while agent.status.ledger.delivered < 1 { usleep(10_000) }
        // The connection closes after the round that has delivered.
        while Self.descriptors != before, tries > 0 {
            tries -= 1
            usleep(10_000)
        }
        let masks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap { task in
            let status = try String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8).split(
                separator: "\n")
            let line = status.first { $0.hasPrefix("SigBlk:") }
            return status.contains("Name:\tmartlet") ? line?.dropFirst("SigBlk:\t".count) : nil
        }
        print(masks.joined(separator: " "))
        let memory = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        print(memory.first { $0.hasPrefix("VmLck:") }?.split(separator: " ").dropFirst().first ?? "")
        return Self.descriptors.subtracting(before).count
    }

    /// Unblocks all signals. A test starts programs on a thread of Dispatch, and they inherit its mask.
    private static func unblockSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }

    private static func file(_ number: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    }

    private static var descriptors: Set<Int32> {
        Set((3..<64).filter { fcntl($0, F_GETFD) >= 0 })
    }

    private func grandchildren(_ agent: MartletAgent, _ load: Load, _ requests: Int) throws -> Int {
        let child = Fork.child {
            Load.record(requests, at: "child")
            let grandchild = Fork.child {
                try load.make(requests, as: "grandchild")
                agent.shutdownNow()
            }
            let failures = Fork.await([grandchild])
            agent.shutdownNow()
            if failures > 0 { throw CancellationError() }
        }
        let failures = Fork.await([child])
        agent.shutdownNow()
        return failures
    }
}
