#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking

/// `URLSession`'s HTTP loader on Linux. It loads requests in both modes, and Martlet observes between it and its
/// client.
enum NativeLoader {
    /// The loader's class; `nil` where Foundation has no class of this name.
    static let type = NSClassFromString("FoundationNetworking._HTTPURLProtocol") as? URLProtocol.Type
}

/// The offset of a property that is not public, in the instances of a class. It is found once, by searching the words
/// of an instance for the property's value. After that a read is one load, where `Mirror` would take microseconds.
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

/// The queue on which a task's loader runs. A libcurl transfer may be resumed only on this queue.
enum TaskQueue {
    /// Whether Foundation stores the queue as expected.
    static var isAvailable: Bool { field != nil }

    /// Returns the task's queue; `nil` if Foundation does not store it as expected.
    static func queue(of task: URLSessionTask) -> DispatchQueue? {
        guard let queue = field?.pointer(in: UnsafeRawPointer(Unmanaged.passUnretained(task).toOpaque())) else {
            return nil
        }
        return Unmanaged<DispatchQueue>.fromOpaque(queue).takeUnretainedValue()
    }

    /// The field, found in a task that never runs. The offset is the same in all classes of tasks.
    private static let field = StoredField("workQueue", of: URLSessionDataTask())
}

/// The time-out with which Foundation ends a task whose server is silent.
enum TaskTimeOut {
    /// The time-out of a request that sets none (`URLRequest.timeoutInterval`).
    private static let unset = 60.0

    /// Returns the time-out of the loader's request or, if that sets none, of its session. A request that sets 60 s
    /// looks the same as one that sets none.
    static func timeOut(of loader: URLProtocol) -> Duration? {
        let interval = loader.request.timeoutInterval
        let session = interval == unset ? loader.task.flatMap(session) : nil
        let seconds = session?.configuration.timeoutIntervalForRequest ?? interval
        return seconds > 0 && seconds < 86_400 ? .nanoseconds(Int64(seconds * 1e9)) : nil
    }

    /// Initializes the type's lazy values before the first request (see ``ForkedChild/prepare()``).
    static func initializeStatics() { _ = field }

    private static func session(of task: URLSessionTask) -> URLSession? {
        let task = UnsafeRawPointer(Unmanaged.passUnretained(task).toOpaque())
        return field?.pointer(in: task).flatMap {
            Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() as? URLSession
        }
    }

    /// The field with a task's session, found in a task that never runs and has a placeholder session.
    private static let field = StoredField("session", of: URLSessionDataTask())
}
#endif
