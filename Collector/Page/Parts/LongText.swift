import MartletReports
import MartletTelemetry

/// The beginning of a text that may be of any length, and in words how much is left out. Secrets that were taken out of it are
/// marked.
enum LongText {
    /// - Parameter bytes: the bytes of the text that are shown at most.
    static func html(_ text: String, atMost bytes: Int) -> HTML {
        let shown = text.cut(toBytes: bytes)
        let more = UInt64(text.utf8.count - shown.utf8.count)
        return HTML.joined(
            marked(shown) + [more > 0 ? rest(more) : .none])
    }

    private static func marked(_ text: String) -> [HTML] {
        let parts = text.split(separator: SpanSecrets.placeholder, omittingEmptySubsequences: false)
        return parts.enumerated().flatMap { index, part in
            index == 0 ? [HTML(String(part))] : [redacted, HTML(String(part))]
        }
    }

    private static var redacted: HTML { element("span", .class("redacted")) { SpanSecrets.placeholder } }

    private static func rest(_ bytes: UInt64) -> HTML {
        element("small", .class("rest")) { " … and \(FigureText.grouped(bytes)) more bytes" }
    }
}
