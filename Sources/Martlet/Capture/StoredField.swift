#if os(Linux)
import Foundation

/// The offset of a property that is not public, in the instances of a class. It is found once, by a search for the
/// property's value among the words of an instance. Reading it afterwards is one load, where `Mirror` would take
/// microseconds.
struct StoredField: Sendable {
    private let offset: Int

    /// Finds the property; `nil` unless exactly one word of the instance holds its value, an object or a pointer.
    init?(_ label: String, of object: AnyObject) {
        guard let value = Self.value(of: label, in: object), let word = Self.word(value) else { return nil }
        let words = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        let found = stride(from: Self.header, to: Self.size(of: object), by: MemoryLayout<UInt>.size)
            .filter { words.load(fromByteOffset: $0, as: UInt.self) == word }
        guard let offset = found.first, found.count == 1 else { return nil }
        self.offset = offset
    }

    /// Returns the property's word in an instance of the same class; `nil` where it is zero.
    func pointer(in object: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
        object.load(fromByteOffset: offset, as: UnsafeMutableRawPointer?.self)
    }

    /// The bytes of an instance's metadata pointer and reference count.
    private static let header = 16

    /// Returns the size of the class's instances, in bytes: the 32 bits at byte 24 of its metadata (Swift ABI, "Class
    /// Metadata").
    private static func size(of object: AnyObject) -> Int {
        let metadata = unsafeBitCast(type(of: object) as AnyClass, to: UnsafeRawPointer.self)
        return Int(metadata.load(fromByteOffset: 24, as: UInt32.self))
    }

    private static func word(_ value: Any) -> UInt? {
        if let pointer = value as? UnsafeMutableRawPointer { return UInt(bitPattern: pointer) }
        if let pointer = value as? OpaquePointer { return UInt(bitPattern: pointer) }
        guard type(of: value) is AnyClass else { return nil }
        return UInt(bitPattern: Unmanaged.passUnretained(value as AnyObject).toOpaque())
    }

    /// Returns the stored property of that name, in the object's class or a superclass; `nil` where it is missing or nil.
    static func value(of label: String, in object: AnyObject) -> Any? {
        var mirror: Mirror? = Mirror(reflecting: object)
        while let current = mirror {
            if let child = current.children.first(where: { $0.label == label }) { return unwrapped(child.value) }
            mirror = current.superclassMirror
        }
        return nil
    }

    /// Returns the value in an optional, `nil` for an empty one, and any other value itself.
    static func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional ? mirror.children.first?.value : value
    }
}
#endif
