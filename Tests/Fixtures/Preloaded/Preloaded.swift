import Foundation

/// Libraries that a process loads before the C library (`LD_PRELOAD`). Each is compiled from the C file of its name in this
/// folder.
package enum Preloaded: String {
    /// A wall clock that a test sets while the process runs.
    case clock
    /// A `dlsym` that finds none of libcurl's functions, as in a process that links libcurl statically.
    case withoutLibcurl = "no_libcurl"
    /// A limit of threads that only Dispatch may pass.
    case withoutThreads = "no_threads"

    /// Compiles the library.
    ///
    /// - Returns: The path of the library.
    package func library(in folder: TemporaryFolder) async throws -> String {
        let library = folder.path("\(rawValue).so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("\(rawValue).c").path
        let compiler = try ChildProcess(
            ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env")),
            ["clang", "-shared", "-fPIC", "-O1", "-o", library, source],
            environment: ProcessInfo.processInfo.environment.filter { $0.key == "PATH" })
        let (status, _, errors) = await compiler.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
        return library
    }
}
