import Fixtures
import Foundation
import Testing

/// Compares an output with a file of `Golden`. `MARTLET_GOLDEN=write` writes the file instead and fails, so that no run is
/// green that has compared nothing; look at the difference before you commit it.
func expect(_ text: String, in file: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let url = URL(fileURLWithPath: Repository.path("Tests/CollectorTests/Golden/" + file))
    if ProcessInfo.processInfo.environment["MARTLET_GOLDEN"] == "write" {
        try Data(text.utf8).write(to: url)
        Issue.record("\(file) was written, not compared", sourceLocation: sourceLocation)
    } else {
        #expect(try String(contentsOf: url, encoding: .utf8) == text, "\(file)", sourceLocation: sourceLocation)
    }
}

@Suite struct GoldenFileTests {
    /// The sources of the tests name every file, as `in: "name"`.
    @Test func aTestReadsEachGoldenFile() throws {
        let reports = Repository.path("Tests/CollectorTests/Reports")
        let sources = try FileManager.default.contentsOfDirectory(atPath: reports)
            .filter { $0.hasSuffix("GoldenTests.swift") }
            .map { try String(contentsOfFile: reports + "/" + $0, encoding: .utf8) }.joined()
        let files = try FileManager.default.contentsOfDirectory(
            atPath: Repository.path("Tests/CollectorTests/Golden"))
        #expect(files.count > 20)
        for file in files { #expect(sources.contains("\"\(file)\""), "no test reads \(file)") }
    }
}
