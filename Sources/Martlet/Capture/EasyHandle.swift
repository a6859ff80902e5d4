#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import Synchronization

/// libcurl's handle of a native loader's transfer. Valid as long as its loader, and only on the session's queue.
struct EasyHandle {
    private let object: UnsafeRawPointer
    private let raw: UnsafeMutableRawPointer

    /// `nil` where the loader does not keep its handle as it did when this was written.
    init?(of loader: URLProtocol) {
        let loader = UnsafeRawPointer(Unmanaged.passUnretained(loader).toOpaque())
        guard let fields = Self.fields, let object = fields.handle.pointer(in: loader),
            let raw = fields.raw.pointer(in: object)
        else { return nil }
        self.object = UnsafeRawPointer(object)
        self.raw = raw
    }

    /// Whether handles are where they were when this was written. If not, requests are seen without phases and without
    /// trace headers.
    static var isAvailable: Bool { fields != nil }

    /// Whether libcurl's functions are those of this process's Foundation. Not where libcurl is linked statically without
    /// its symbols, or there are two of them. To be asked before anything of a handle is.
    static let hasLibcurl = martlet_find_libcurl(NativeLoader.type.map { unsafeBitCast($0, to: UnsafeRawPointer.self) })

    /// Whether libcurl can be asked to call before it writes a request (7.80 and later).
    static let canCallBeforeRequest: Bool = {
        guard hasLibcurl, let loader = makeIdleLoader(), let handle = EasyHandle(of: loader) else { return false }
        return withExtendedLifetime(loader) {
            martlet_set_before_request(handle.raw, { _, _, _, _, _ in 0 }, nil)
        }
    }()

    /// `nil` where libcurl does not tell.
    ///
    /// - Parameters:
    ///   - isTimed: otherwise they are sizes alone, which cost a quarter.
    ///   - firstByte: see ``TransferFigures``.
    func figures(isTimed: Bool, firstByte: UInt64?) -> TransferFigures? {
        var transfer = martlet_transfer()
        let isRead = isTimed ? martlet_read_transfer(raw, &transfer) : martlet_read_sizes(raw, &transfer)
        return isRead ? TransferFigures(transfer, isTimed: isTimed, firstByte: firstByte) : nil
    }

    /// `network.protocol.version`; `nil` before there was an answer.
    var httpVersion: String? {
        switch martlet_http_version(raw) {
        case 1: "1.0"
        case 2: "1.1"
        case 3, 4, 5: "2"
        case 30, 31: "3"
        default: nil
        }
    }

    /// `network.peer.address` and `network.peer.port`; `nil` before there was a connection.
    var peer: (address: String, port: Int)? {
        var port: Int64 = 0
        return martlet_peer(raw, &port).map { (String(cString: $0), Int(port)) }
    }

    /// Has libcurl call before each request that it writes, also of a redirect; `context` must live as long as the
    /// handle. Where libcurl cannot (before 7.80) it never calls.
    func callBeforeRequest(_ context: UnsafeMutableRawPointer, _ call: martlet_before_request) {
        _ = martlet_set_before_request(raw, call, context)
    }

    /// Has libcurl call once, at the head of the answer to what is about to be written. Not where Foundation has libcurl's
    /// debug callback for itself.
    func callAtHead(_ context: UnsafeMutableRawPointer, _ call: martlet_head) {
        if !Self.isDebugged { _ = martlet_call_at_head(raw, call, context) }
    }

    func ignoreHead() {
        if !Self.isDebugged { martlet_ignore_head(raw) }
    }

    /// Makes what is made at the first use.
    static func prepare() { _ = isDebugged }

    /// As Foundation decides it.
    private static let isDebugged = ProcessInfo.processInfo.environment["URLSessionDebugLibcurl"] != nil

    /// Adds the headers to what is about to be written. The list belongs to Foundation, is made anew for every transfer,
    /// and is never empty: the loader sets headers of its own.
    func addTraceHeaders(_ context: TraceContext) {
        guard let list = Self.headerList(of: object) else { return CaptureSwitch.note(.noHeaders) }
        let (trace, span) = (context.traceID, context.spanID)
        guard !context.traceState.isEmpty else {
            _ = martlet_add_trace_headers(list, trace.high, trace.low, span.value, context.isSampled, nil)
            return
        }
        context.traceState.withCString {
            _ = martlet_add_trace_headers(list, trace.high, trace.low, span.value, context.isSampled, $0)
        }
    }

    // MARK: -

    private struct Fields: Sendable {
        let handle: StoredField
        let raw: StoredField
    }

    private static func makeIdleLoader() -> URLProtocol? {
        guard let type = NativeLoader.type, let url = URL(string: "http://127.0.0.1/") else { return nil }
        return type.init(request: URLRequest(url: url), cachedResponse: nil, client: nil)
    }

    /// Found in a loader that never loads.
    private static let fields: Fields? = {
        guard let loader = makeIdleLoader(), let object = StoredField.value(of: "easyHandle", in: loader),
            Swift.type(of: object) is AnyClass,
            let handle = StoredField("easyHandle", of: loader),
            let raw = StoredField("rawHandle", of: object as AnyObject)
        else { return nil }
        return Fields(handle: handle, raw: raw)
    }()

    private struct ListFields: Sendable {
        let list: StoredField
        let raw: StoredField
    }

    /// Found in the first handle that has headers. Only a success is remembered.
    private static let listFields = ProcessLock<ListFields?>(nil)

    private static func headerList(of object: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
        let known = listFields.withLock { $0 }
        guard let fields = known ?? findListFields(of: object) else { return nil }
        return fields.list.pointer(in: object).flatMap { fields.raw.pointer(in: $0) }
    }

    private static func findListFields(of object: UnsafeRawPointer) -> ListFields? {
        let handle = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
        guard let value = StoredField.value(of: "headerList", in: handle), type(of: value) is AnyClass,
            let list = StoredField("headerList", of: handle), let raw = StoredField("rawList", of: value as AnyObject)
        else { return nil }
        let fields = ListFields(list: list, raw: raw)
        listFields.withLock { $0 = fields }
        return fields
    }
}
#endif
