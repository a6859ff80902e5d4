extension UInt8 {
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }

    /// Whether the byte is a blank, tab, line feed or carriage return.
    var isASCIIWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0a || self == 0x0d }

    /// The value of a hexadecimal digit; `nil` for any other byte.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the hexadecimal digit of the lower four bits, in upper case.
    static func hexadecimalDigit(of value: UInt8) -> UInt8 {
        let value = value & 0xf
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension String {
    /// Returns the text for a log: cut to `length` Unicode scalars, and each control character replaced by `?`, because
    /// a terminal might obey it.
    func printable(upTo length: Int) -> String {
        unicodeScalars.prefix(length).map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
    }
}
