import ArgumentParser

/// A size such as `64MiB`, `500KB` or plain bytes.
enum ByteSize {
    private static let units: [(name: String, bytes: Double)] = [
        ("KiB", 0x1p10), ("MiB", 0x1p20), ("GiB", 0x1p30), ("TiB", 0x1p40), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9),
        ("TB", 1e12), ("B", 1), ("", 1),
    ]

    /// - Parameter flag: the flag that an error names.
    static func parse(_ text: String, of flag: String) throws -> Int {
        for (name, bytes) in units where text.lowercased().hasSuffix(name.lowercased()) {
            let digits = text.dropLast(name.count)
            guard let number = Double(digits), number >= 0, number * bytes < 0x1p62 else { break }
            return Int(number * bytes)
        }
        throw ValidationError("\(flag) must be a size, such as 1GiB")
    }

    /// Returns the size in the largest binary unit that it fills, such as `1.5 GiB`.
    static func text(_ bytes: UInt64) -> String {
        for (name, size) in units.prefix(4).reversed() where Double(bytes) >= size {
            let tenths = (Double(bytes) / size * 10).rounded() / 10
            return tenths == tenths.rounded() ? "\(Int(tenths)) \(name)" : "\(tenths) \(name)"
        }
        return "\(bytes) bytes"
    }
}
