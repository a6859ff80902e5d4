/// The id of a kept span as people see it: the number of its row in the digits 0 to 9 and a to z.
struct DetailID: CustomStringConvertible {
    let row: Int64

    init(row: Int64) {
        self.row = row
    }

    /// Returns `nil` if the text is no such number.
    init?(_ text: String) {
        guard let row = Int64(text, radix: 36), row > 0 else { return nil }
        self.row = row
    }

    var description: String { String(row, radix: 36) }
}
