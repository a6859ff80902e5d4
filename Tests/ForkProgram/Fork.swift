import Foundation

/// `fork(2)`, looked up by its name, because Swift does not import it.
enum Fork {
    private typealias Function = @convention(c) () -> pid_t

    private static let function: Function? = dlsym(nil, "fork").map { unsafeBitCast($0, to: Function.self) }

    /// Forks, runs `body` in the child and ends the child after it.
    static func child(_ body: () throws -> Void) -> pid_t {
        guard let function else { exit(70) }
        let pid = function()
        guard pid == 0 else { return pid }
        do { try body() } catch { _exit(1) }
        fflush(nil)
        _exit(0)
    }

    /// Waits until all children have ended.
    ///
    /// - Returns: The number of children that ended by a signal or with an error.
    static func await(_ children: [pid_t]) -> Int {
        children.reduce(0) { failures, child in
            var status: Int32 = 0
            waitpid(child, &status, 0)
            return failures + (status == 0 ? 0 : 1)
        }
    }
}
