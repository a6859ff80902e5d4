/// A flag of a command and its value; a switch has none.
package struct CommandFlag: Sendable, Equatable {
    /// The name without dashes.
    package var name: String
    package var value: String?

    package init(_ name: String, _ value: String? = nil) {
        self.name = name
        self.value = value
    }

    /// Returns flags for a person to copy into a shell.
    static func text(_ flags: [CommandFlag]) -> String { flags.map(\.text).joined(separator: " ") }

    private var text: String {
        guard let value else { return "--\(name)" }
        // A value that begins with a dash would be read as another flag.
        return "--\(name)" + (value.hasPrefix("-") ? "=" : " ") + ShellWord.quoted(value)
    }
}

/// The address of a collector.
package enum CollectorAddress {
    /// The default address that agents send to and commands query.
    package static let usual = "http://127.0.0.1:4318"
}

/// A command for a person to copy into a shell.
package enum CommandText {
    package static func text(_ subcommand: String, _ flags: [CommandFlag]) -> String {
        adding(flags, to: "martlet-collector \(subcommand)")
    }

    /// Returns a command with further flags.
    package static func adding(_ flags: [CommandFlag], to command: String) -> String {
        command + (flags.isEmpty ? "" : " " + CommandFlag.text(flags))
    }
}

/// Text as one word of a shell (POSIX.1-2024, Shell Command Language, section 2.2).
///
/// It works on Unicode scalars, because a quote followed by a combining mark is a different character but still a quote for the
/// shell.
enum ShellWord {
    static func quoted(_ text: String) -> String {
        guard TerminalText.plain(text) == text else { return "$'" + text.unicodeScalars.map(escaped).joined() + "'" }
        if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
        return "'" + text.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "_@%+=:,./-".utf8.contains(byte)
        }
    }

    /// A character between `$'` and `'`, which bash, ksh and zsh read (POSIX.1-2024, 2.2.4).
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        if scalar == "'" || scalar == "\\" { return "\\\(scalar)" }
        if TerminalText.isPlain(scalar) { return String(scalar) }
        return String(scalar).utf8.map { "\\x" + String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
    }
}
