import Foundation
import Martlet
import Tracing

/// How the process ends, other than by a shutdown of its agent and a return. A line that ends the process by a signal has its
/// case in a comment, which `scripts/ends.py` looks for.
enum Ending: String {
    case exit, returned, quit, killed, terminated, starved
    case aborted, trapped, unwrapped, outOfBounds, overflowed, divided, cast, failed, wild, overran
    /// A shutdown of the agent, which the process does not wait for.
    case leftBehind
    /// A shutdown of the agent that has no time, and then an orderly exit.
    case hurried
    /// Work that goes on after SIGTERM (``Lifecycle``).
    case lingered

    func happen(_ agent: MartletAgent, in place: Place) {
        guard self != .returned else { return }
        place.run { happen(agent) }
        // The end comes from another thread, from this process's signal, or from the test.
        while true { sleep(1) }
    }

    private func happen(_ agent: MartletAgent) {
        switch self {
        case .exit: Foundation.exit(0)
        case .quit: _exit(3)
        case .killed: kill(getpid(), SIGKILL)
        case .terminated: kill(getpid(), SIGTERM)
        case .starved: Self.leak()
        case .leftBehind: Task.detached { await agent.shutdown(within: .seconds(600)) }
        case .hurried:
            Task.detached {
                await agent.shutdown(within: .zero)
                Foundation.exit(0)
            }
        case .returned, .lingered: break
        default: crash()
        }
    }

    private func crash() {
        let never = getpid() < 0
        switch self {
        case .aborted: abort()  // end: aborted
        case .trapped: fatalError("a secret")  // end: trapped
        case .unwrapped: print(Self.unwrap(never ? 1 : nil))
        case .outOfBounds: print(Self.read([1], never ? 0 : 7))
        case .overflowed: print(Self.add(100, never ? 1 : 100))
        case .divided: print(Self.divide(100, never ? 1 : 0))
        case .cast: print(Self.number(never ? 1 : "a secret"))
        case .failed: Self.tryHard(never)
        case .wild: print(Self.load(never ? 0 : 8))
        case .overran: print(Self.descend(never ? -1 : 1))
        default: break
        }
    }

    /// Takes some memory, a little at a time, until the kernel ends the process.
    private static func leak() {
        var taken: [[UInt8]] = []
        repeat {
            taken.append([UInt8](repeating: 1, count: 1 << 20))
        } while usleep(30_000) == 0 && !taken.isEmpty
    }

    // swift-format-ignore: NeverForceUnwrap
    @inline(never) private static func unwrap(_ number: Int?) -> Int { number! }  // end: unwrapped
    @inline(never) private static func read(_ all: [Int], _ index: Int) -> Int { all[index] }  // end: outOfBounds
    @inline(never) private static func add(_ one: Int8, _ other: Int8) -> Int8 { one + other }  // end: overflowed
    @inline(never) private static func divide(_ one: Int, _ other: Int) -> Int { one / other }  // end: divided
    // swift-format-ignore: NeverForceUnwrap
    @inline(never) private static func number(_ value: Any) -> Int { value as! Int }  // end: cast
    // swift-format-ignore: NeverUseForceTry
    @inline(never) private static func tryHard(_ isEasy: Bool) { try! work(isEasy) }  // end: failed
    @inline(never) private static func work(_ isEasy: Bool) throws { if !isEasy { throw CocoaError(.fileNoSuchFile) } }
    @inline(never) private static func load(_ address: Int) -> Int {
        UnsafePointer<Int>(bitPattern: address)?.pointee ?? 0  // end: wild
    }
    @inline(never) private static func descend(_ depth: Int) -> Int {  // end: overran
        depth < 0 ? 0 : descend(depth + 1) + depth  // end: overran
    }
}

/// The part of the process in which it ends. Its thread has served a request before, or serves one.
enum Place: String {
    /// The main thread, in a process that makes no requests before.
    case main
    case task, actor, queue, thread, request
    /// A thread that has never begun a request.
    case bare

    func run(_ end: @escaping @Sendable () -> Void) {
        switch self {
        case .main: end()
        case .task:
            Task.detached {
                serve {}
                end()
            }
        case .actor: Task.detached { await Worker().run(end) }
        case .queue:
            DispatchQueue.global().async {
                serve {}
                end()
            }
        case .thread:
            Thread.detachNewThread {
                serve {}
                end()
            }
        case .request: serve(end)
        case .bare: Thread.detachNewThread(end)
        }
    }
}

private actor Worker {
    func run(_ end: () -> Void) {
        serve {}
        end()
    }
}

/// Serves a request, as a server's tracing middleware does.
private func serve(_ body: () -> Void) {
    withSpan("GET", ofKind: .server) { span in
        span.attributes["http.request.method"] = "GET"
        span.attributes["http.route"] = "/ending/{place}"
        body()
    }
}
