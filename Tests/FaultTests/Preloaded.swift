import Fixtures
import Foundation

/// A library made of one of the C files beside the tests, which a process loads ahead of the C library.
enum Preloaded {
    /// - Returns: its path.
    static func library(_ name: String, in folder: TemporaryFolder) async throws -> String {
        let library = folder.path("\(name).so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("\(name).c")
            .path
        let compiler = try ChildProcess(
            ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env")),
            ["clang", "-shared", "-fPIC", "-O1", "-o", library, source],
            environment: ProcessInfo.processInfo.environment.filter { $0.key == "PATH" })
        let (status, _, errors) = await compiler.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
        return library
    }
}
