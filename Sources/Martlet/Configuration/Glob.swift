/// A pattern on bytes in which `*` stands for any run of bytes, also an empty one.
struct Glob: Sendable, Equatable {
    private let pattern: [UInt8]

    private static let star = UInt8(ascii: "*")

    init(_ text: some StringProtocol) {
        pattern = Array(text.utf8)
    }

    /// Takes time linear in the text for each star: after a mismatch only the last star is tried again, one byte further.
    func matches(_ text: String) -> Bool {
        let text = Array(text.utf8)
        var (p, t) = (0, 0)
        var retry: (p: Int, t: Int)?
        while t < text.count {
            if p < pattern.count, pattern[p] == Self.star {
                p += 1
                retry = (p, t)
            } else if p < pattern.count, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let last = retry {
                p = last.p
                t = last.t + 1
                retry = (p, t)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == Self.star }
    }
}
