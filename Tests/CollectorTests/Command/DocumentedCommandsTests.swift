import ArgumentParser
import Fixtures
import Foundation
import Testing

@testable import martlet_collector

/// The collector's commands and variables in the pages for users.
@Suite struct DocumentedCommandsTests {
    static let pages: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Repository.path("docs"))) ?? []
        return ["README.md", "deploy/README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
    }()

    @Test func everyCommandIsUnderstood() throws {
        let commands = Set(try Self.pages.flatMap { Self.commands(in: try Repository.text($0)) })
        #expect(commands.count > 40)
        #expect(
            commands.contains([
                "backup", "--store", "sqlite:/var/lib/martlet/collector.sqlite", "/backups/martlet.sqlite",
            ]))
        for command in commands {
            do { _ = try MartletCollector.parseAsRoot(command) } catch {
                // A request for help or completions is an error without a fault.
                let fault = "\(command): \(MartletCollector.message(for: error))"
                #expect(MartletCollector.exitCode(for: error) == .success, "\(fault)")
            }
        }
    }

    @Test(arguments: pages) func everyVariableOfThePageIsRead(page: String) throws {
        let names = try Repository.text(page).matches(of: #/MARTLET_COLLECTOR_[A-Z_]+[A-Z]/#).map { String($0.output) }
        #expect(CollectorEnvironment(Dictionary(names.map { ($0, "") }) { first, _ in first }).unknown == [])
    }

    /// Returns the arguments of each command in a page: of a line in a listing for a shell, or of a text between backticks.
    private static func commands(in page: String) -> [[String]] {
        let listings = page.matches(of: #/```sh\n(?<lines>.*?)```/#.dotMatchesNewlines()).map(\.output.lines)
            .joined(separator: "\n")
        let lines = listings.replacing("\\\n", with: " ").split(separator: "\n")
        let quoted = page.replacing(#/```.*?```/#.dotMatchesNewlines(), with: "")
            .matches(of: #/`(?<code>[^`\n]+)`/#).map(\.output.code)
        return (lines + quoted).compactMap { line in
            let words = words(of: line)
            guard let program = words.firstIndex(of: "martlet-collector") else { return nil }
            // Before the program there may be a variable, or what runs the program.
            guard words[..<program].allSatisfy({ $0.contains("=") || ["swift", "run", "$"].contains($0) }) else {
                return nil
            }
            return words.count > program + 1 ? Array(words[(program + 1)...]) : nil
        }
    }

    /// Returns the words of a shell's line, without quotes and the comment at its end.
    private static func words(of line: Substring) -> [String] {
        let command = line.firstRange(of: " # ").map { line[..<$0.lowerBound] } ?? line
        return command.matches(of: #/(?:[^\s'"]|'[^']*'|"[^"]*")+/#).map {
            $0.output.filter { !"'\"".contains($0) }
        }
    }
}
