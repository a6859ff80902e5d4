/// The beginning of a body.
struct BodySample: Sendable {
    let bytes: [UInt8]
    let contentType: String?
    let isTruncated: Bool

    func text(_ redaction: Redaction) -> String? {
        redaction.body(bytes, contentType: contentType, isTruncated: isTruncated)
    }
}
