#if os(Linux)
import Foundation
import FoundationNetworking

/// The search for a method's slot in a class, without symbol names.
///
/// One of two subclasses overrides the method and the other does not, so their vtables differ in exactly one word. Every
/// subclass of the same base has the method at the same index. Without an Objective-C runtime a class's metadata is seven
/// header words and then the vtable. The two 32-bit halves of word 4 are the metadata's size and the offset of the address
/// point in it (Swift ABI, "TypeMetadata"). This type reads words of live metadata and writes none.
enum VTable {
    typealias Slot = UnsafeMutablePointer<UnsafeMutableRawPointer?>

    /// Returns the method's index; `nil` unless the subclasses differ in exactly one word that the plain one has from the
    /// base.
    static func index(plain: AnyClass, overriding: AnyClass, base: AnyClass) -> Int? {
        let differing = (headerWords..<wordCount(of: base)).filter {
            words(plain)[$0] != words(overriding)[$0] && words(plain)[$0] == words(base)[$0]
        }
        return differing.count == 1 ? differing.first : nil
    }

    /// Returns the slot in which a class keeps the method at `index`; `nil` past the end of its metadata.
    static func slot(of type: AnyClass, at index: Int) -> Slot? {
        index < wordCount(of: type) ? words(type) + index : nil
    }

    private static let headerWords = 7

    private static func words(_ type: AnyClass) -> Slot {
        unsafeBitCast(type, to: Slot.self)
    }

    private static func wordCount(of type: AnyClass) -> Int {
        let metadata = UnsafeRawPointer(words(type))
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let addressPoint = metadata.load(fromByteOffset: 36, as: UInt32.self)
        return size > addressPoint ? Int(size - addressPoint) / MemoryLayout<UnsafeRawPointer>.size : 0
    }
}
#endif
