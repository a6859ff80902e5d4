import Foundation

/// The failure of a request to ClickHouse, as one sentence.
package enum ClickHouseError: Error, CustomStringConvertible {
    /// No server answered, or none in time. The request may have been carried out.
    case noAnswer(String)
    /// A server refused the request. The request may have been carried out in part.
    case refused(code: Int?, String)
    /// The answer has another form than was asked for.
    case malformed

    /// Whether ClickHouse refused an insert because another one waits for its replicas (UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE).
    var isBehindAnotherInsert: Bool {
        if case .refused(code: 286, _) = self { true } else { false }
    }

    /// Whether a statement for all servers of a cluster was not carried out by all of them in time (TIMEOUT_EXCEEDED).
    var isBehindAServer: Bool {
        if case .refused(code: 159, _) = self { true } else { false }
    }

    /// Whether no server answered.
    package var isAway: Bool {
        if case .noAnswer = self { true } else { false }
    }

    /// The failure without names of hosts and words of ClickHouse, for anybody to read.
    var summary: String {
        switch self {
        case .noAnswer: "no server answers"
        case .refused(let code, _): code.map { "it refuses an insert with code \($0)" } ?? "it refuses an insert"
        case .malformed: "its answer cannot be read"
        }
    }

    package var description: String {
        switch self {
        case .noAnswer(let reason): "no ClickHouse server answers: \(reason)"
        case .refused(_, let text): "ClickHouse refuses: \(text)"
        case .malformed: "ClickHouse's answer cannot be read"
        }
    }

    /// Reads an answer such as `Code: 60, e.displayText() = DB::Exception: Table martlet.point doesn't exist., e.what() = …`.
    init(answer: String) {
        let code = answer.hasPrefix("Code: ") ? Int(answer.dropFirst(6).prefix { $0.isNumber }) : nil
        let end = answer.range(of: ", e.what()")?.lowerBound ?? answer.endIndex
        let line = answer[..<end].prefix { !$0.isNewline }
        self = .refused(code: code, String(line.prefix(400)))
    }
}
