import Foundation
import Martlet

/// How the process ends, other than by a shutdown of its agent and a return.
enum Ending: String {
    case exit, quit, killed, terminated, aborted, trapped, unwrapped, outOfBounds, overflowed, cast, overran, failed
    /// A shutdown of the agent, which the process does not wait for.
    case leftBehind

    func happen(_ agent: MartletAgent) {
        switch self {
        case .exit: Foundation.exit(0)
        case .quit: _exit(3)
        case .killed: kill(getpid(), SIGKILL)
        case .terminated: kill(getpid(), SIGTERM)
        case .aborted: abort()
        case .trapped: fatalError("a secret")
        case .unwrapped: print(Self.unwrap(opaque(nil)))
        case .outOfBounds: print(Self.read(opaque([1]), opaque(7)))
        case .overflowed: print(Self.add(opaque(100), opaque(100)))
        case .cast: print(Self.number(opaque("a secret" as Any)))
        case .overran: print(Self.descend(opaque(0)))
        case .failed: Self.tryHard()
        case .leftBehind: Task.detached { await agent.shutdown(within: .seconds(600)) }
        }
        // The signal comes from this process or from the test.
        while true { sleep(1) }
    }

    // swift-format-ignore: NeverForceUnwrap
    @inline(never) private static func unwrap(_ number: Int?) -> Int { number! }
    @inline(never) private static func read(_ numbers: [Int], _ index: Int) -> Int { numbers[index] }
    @inline(never) private static func add(_ one: Int8, _ other: Int8) -> Int8 { one + other }
    // swift-format-ignore: NeverForceUnwrap
    @inline(never) private static func number(_ value: Any) -> Int { value as! Int }
    @inline(never) private static func descend(_ depth: Int) -> Int {
        depth < 0 ? 0 : descend(depth + 1) + opaque(depth)
    }
    // swift-format-ignore: NeverUseForceTry
    @inline(never) private static func tryHard() { try! { throw CocoaError(.fileNoSuchFile) }() }
}

/// Hides a value from the compiler.
@inline(never) private func opaque<Value>(_ value: Value) -> Value { value }
