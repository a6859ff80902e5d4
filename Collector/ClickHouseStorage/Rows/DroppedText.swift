import Foundation

/// Requests by the reason for their loss, as the JSON object of a column.
enum DroppedText {
    static func text(of dropped: [String: UInt64]) -> String {
        guard !dropped.isEmpty, let json = try? JSONEncoder().encode(dropped) else { return "" }
        return String(decoding: json, as: UTF8.self)
    }

    static func dropped(from text: String) -> [String: UInt64] {
        (try? JSONDecoder().decode([String: UInt64].self, from: Data(text.utf8))) ?? [:]
    }
}
