import Foundation

/// Libraries that a process loads ahead of the C library (`LD_PRELOAD`), each made of the C file of its name beside this one.
package enum Preloaded: String {
    /// A wall clock that can be set under the running process.
    case clock
    /// libcurl's functions cannot be looked up, as where it is linked statically.
    case withoutLibcurl = "no_libcurl"

    /// Compiles it.
    ///
    /// - Returns: the path of the library.
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
