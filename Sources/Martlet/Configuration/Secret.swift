/// A value that no description shows, so that a configuration can be logged or dumped as a whole.
struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomReflectable {
    var value: Value

    init(_ value: Value) { self.value = value }

    var description: String { "(hidden)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
