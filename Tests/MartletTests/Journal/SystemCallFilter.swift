import Foundation
import Synchronization

/// Threads whose system calls are recorded and do nothing (seccomp(2), `SECCOMP_RET_TRAP`).
enum SystemCallFilter {
    #if arch(x86_64)
    private static let exit: UInt32 = 60
    private static let signalReturn: UInt32 = 15
    static let yield: Int32 = 24
    #else
    private static let exit: UInt32 = 93
    private static let signalReturn: UInt32 = 139
    static let yield: Int32 = 124
    #endif

    /// The C library's variadic functions, which Swift does not import.
    private typealias Call = @convention(c) @Sendable (Int, UInt, UInt, UInt, UInt) -> Int
    private static let prctl = function("prctl")
    private static let systemCall = function("syscall")

    private static func function(_ name: String) -> Call? { dlsym(nil, name).map { unsafeBitCast($0, to: Call.self) } }

    /// Whether the kernel has filters (`PR_GET_SECCOMP`). Looks up both functions before any filter is installed.
    static var isPossible: Bool { systemCall != nil && prctl?(21, 0, 0, 0, 0) ?? -1 >= 0 }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        /// Threads that have run the body without the filter.
        let ready = Atomic<Int>(0)
        let threads: Int

        init(_ body: @escaping @Sendable () -> Void, threads: Int) { (self.body, self.threads) = (body, threads) }
    }

    /// The calls are noted in one place, so tests take turns.
    private static let turn = Mutex(())

    /// Runs a body twice in each of several threads at once. Returns the numbers of the system calls in the second run.
    static func calls(inThreads threads: Int, of body: @escaping @Sendable () -> Void) -> [Int32] {
        turn.withLock { _ in notedCalls(inThreads: threads, of: body) }
    }

    private static func notedCalls(inThreads threads: Int, of body: @escaping @Sendable () -> Void) -> [Int32] {
        noted.number.store(0, ordering: .relaxed)
        noteTraps()
        let work = Work(body, threads: threads)
        let handles = (0..<threads).map { _ in
            var handle = pthread_t()
            pthread_create(
                &handle, nil,
                { work in
                    if let work { SystemCallFilter.run(Unmanaged<Work>.fromOpaque(work).takeUnretainedValue()) }
                    return nil
                }, Unmanaged.passUnretained(work).toOpaque())
            return handle
        }
        for handle in handles { pthread_join(handle, nil) }
        return withExtendedLifetime(work) { noted.all }
    }

    /// Never returns: one of the two calls that the filter allows ends the thread.
    private static func run(_ work: Work) {
        work.body()
        var signals = sigset_t()
        sigfillset(&signals)
        sigdelset(&signals, SIGSYS)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        work.ready.wrappingAdd(1, ordering: .sequentiallyConsistent)
        while work.ready.load(ordering: .sequentiallyConsistent) < work.threads { sched_yield() }
        if install() { work.body() } else { noted.add(-1) }
        _ = systemCall?(Int(exit), 0, 0, 0, 0)
    }

    private struct Instruction {
        var code: UInt16
        var jumpIfEqual: UInt8 = 0
        var jumpIfNot: UInt8 = 0
        var operand: UInt32
    }

    private struct Program {
        var length: UInt16
        var instructions: UnsafePointer<Instruction>
    }

    private static func install() -> Bool {
        let instructions = [
            // The call's number.
            Instruction(code: 0x20, operand: 0),
            Instruction(code: 0x15, jumpIfEqual: 2, operand: exit),
            Instruction(code: 0x15, jumpIfEqual: 1, operand: signalReturn),
            Instruction(code: 0x06, operand: 0x0003_0000),
            Instruction(code: 0x06, operand: 0x7fff_0000),
        ]
        return instructions.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return withUnsafePointer(to: Program(length: UInt16(buffer.count), instructions: start)) { program in
                // PR_SET_NO_NEW_PRIVS, then PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
                prctl?(38, 1, 0, 0, 0) == 0 && prctl?(22, 2, UInt(bitPattern: program), 0, 0) == 0
            }
        }
    }

    private static func noteTraps() {
        var action = sigaction()
        action.sa_flags = SA_SIGINFO
        action.__sigaction_handler.sa_sigaction = { _, information, _ in
            // `si_syscall`, after the address of the call.
            if let information { noted.add(UnsafeRawPointer(information).load(fromByteOffset: 24, as: Int32.self)) }
        }
        sigaction(SIGSYS, &action, nil)
    }
}

/// The numbers of the first calls, written by the signal's handler.
private final class NotedCalls: @unchecked Sendable {
    let number = Atomic<Int>(0)
    private let numbers = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 100)

    func add(_ call: Int32) {
        let place = number.wrappingAdd(1, ordering: .relaxed).oldValue
        if place < numbers.count { numbers[place] = call }
    }

    var all: [Int32] { (0..<min(number.load(ordering: .relaxed), numbers.count)).map { numbers[$0] } }
}

private let noted = NotedCalls()
