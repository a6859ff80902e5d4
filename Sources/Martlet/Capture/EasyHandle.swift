#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import MartletTelemetry
import Synchronization

/// libcurl's handle of a native loader's transfer. Valid while its loader exists, and only on the session's queue.
struct EasyHandle {
    let object: UnsafeRawPointer
    let raw: UnsafeMutableRawPointer

    /// Reads a loader's handle; `nil` if Foundation does not store it as expected.
    init?(of loader: URLProtocol) {
        let loader = UnsafeRawPointer(Unmanaged.passUnretained(loader).toOpaque())
        guard let fields = Self.fields, let object = fields.handle.pointer(in: loader),
            let raw = fields.raw.pointer(in: object)
        else { return nil }
        self.object = UnsafeRawPointer(object)
        self.raw = raw
    }

    /// Whether Foundation stores handles as expected. If not, requests are captured without phases and trace headers.
    static var isAvailable: Bool { fields != nil }

    /// Whether the libcurl functions of this process's Foundation were found. `false` if libcurl is linked statically
    /// without its symbols, or if the process found another libcurl first. Read it before any use of a handle.
    static let hasLibcurl = martlet_find_libcurl(NativeLoader.type.map { unsafeBitCast($0, to: UnsafeRawPointer.self) })

    /// Whether libcurl can call the agent before it writes a request (7.80 and later).
    static let canCallBeforeRequest: Bool = {
        guard hasLibcurl, let loader = makeIdleLoader(), let handle = EasyHandle(of: loader) else { return false }
        return withExtendedLifetime(loader) {
            martlet_set_before_request(handle.raw, { _, _, _, _, _ in 0 }, nil)
        }
    }()

    /// Returns the transfer's figures; `nil` where libcurl does not give them.
    ///
    /// - Parameters:
    ///   - isTimed: whether to read times too. Reading only sizes costs a quarter.
    ///   - firstByte: see ``TransferFigures``.
    func figures(isTimed: Bool, firstByte: UInt64?) -> TransferFigures? {
        var transfer = martlet_transfer()
        let isRead = isTimed ? martlet_read_transfer(raw, &transfer) : martlet_read_sizes(raw, &transfer)
        return isRead ? TransferFigures(transfer, isTimed: isTimed, firstByte: firstByte) : nil
    }

    /// The version of HTTP of the answer (CURLINFO_HTTP_VERSION); `nil` before an answer came.
    var httpVersion: HTTPVersion? {
        switch martlet_http_version(raw) {
        case 1: .http10
        case 2: .http11
        case 3, 4, 5: .http2
        case 30, 31: .http3
        default: nil
        }
    }

    /// The attributes `network.peer.address` and `network.peer.port`; `nil` before the connection was made.
    var peer: (address: String, port: Int)? {
        var port: Int64 = 0
        return martlet_peer(raw, &port).map { (String(cString: $0), Int(port)) }
    }

    /// The target of the current hop (CURLINFO_EFFECTIVE_URL); `nil` if libcurl has no URL that can be read.
    var target: RequestTarget? {
        martlet_url(raw).flatMap { URL(string: String(cString: $0)) }.map { RequestTarget($0) }
    }

    /// Makes libcurl call `call` before each request that it writes, also after a redirect. `context` must live as long
    /// as the handle. libcurl before 7.80 never calls it.
    func callBeforeRequest(_ context: UnsafeMutableRawPointer, _ call: martlet_before_request) {
        _ = martlet_set_before_request(raw, call, context)
    }

    /// Makes libcurl call `call` once, when the head of the answer to the next request arrives. Does nothing if
    /// Foundation uses libcurl's debug callback itself.
    func callAtHead(_ context: UnsafeMutableRawPointer, _ call: martlet_head) {
        if !Self.isDebugged { _ = martlet_call_at_head(raw, call, context) }
    }

    func ignoreHead() {
        if !Self.isDebugged { martlet_cancel_head(raw) }
    }

    /// Initializes the type's lazy values before the first request (see ``ForkedChild/prepare()``).
    static func initializeStatics() { _ = isDebugged }

    /// Whether Foundation uses libcurl's debug callback, according to the environment variable that Foundation reads
    /// for this.
    static let isDebugged = ProcessInfo.processInfo.environment["URLSessionDebugLibcurl"] != nil

    /// Adds the trace headers to the next request that libcurl writes. The header list belongs to Foundation, which
    /// makes a new one for every transfer. It is never empty, because the loader sets headers itself.
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

    /// The fields from a loader to its handle, found in a loader that never loads; `nil` if they are missing.
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

    /// The fields from a handle to its header list, found in the first handle that has a list. Only a success is
    /// remembered.
    private static let listFields = ProcessLock<ListFields?>(nil)

    static func headerList(of object: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
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

extension EasyHandle {
    /// Whether libcurl has the functions that rules need. Read it before any use of the methods below.
    static let canDetour = hasLibcurl && martlet_find_detour_functions()

    /// Removes all detours for the handle's next transfer.
    func endDetour() { martlet_end_detour(raw) }

    /// Sets a header field of the next request that libcurl writes, or removes it if the value is `nil`
    /// (CURLOPT_HTTPHEADER).
    func replaceHeader(_ name: String, by value: String?) {
        guard let list = Self.headerList(of: object) else { return CaptureSwitch.note(.noHeaders) }
        let line =
            switch value {
            case nil: "\(name):"
            case "": "\(name);"
            case .some(let value): "\(name): \(value)"
            }
        _ = martlet_replace_header(list, name, line)
    }
}

/// libcurl's measurements of a request's last transfer, which is the last hop of a redirected request.
struct TransferFigures: Sendable {
    private let transfer: martlet_transfer
    /// Whether the figures have times, and not only sizes.
    private let isTimed: Bool
    private let firstByte: UInt64?

    /// - Parameter firstByte: the nanoseconds from writing the request to the head of its answer; `nil` if the head was
    ///   not observed. libcurl cannot measure this for a request with a body: it gives the time of the first byte sent.
    init(_ transfer: martlet_transfer, isTimed: Bool = true, firstByte: UInt64? = nil) {
        self.transfer = transfer
        self.isTimed = isTimed
        self.firstByte =
            firstByte ?? (transfer.bytes_sent > 0 ? nil : Self.between(transfer.ready, transfer.first_byte))
    }

    var bytesSent: UInt64 { UInt64(clamping: transfer.bytes_sent) }
    /// The bytes that came over the network. A compressed body counts with its compressed size.
    var bytesReceived: UInt64 { UInt64(clamping: transfer.bytes_received) }
    /// Whether the connection had been used before.
    var isConnectionReused: Bool { transfer.connections == 0 && transfer.ready > 0 }

    /// Returns the phases of the request; none if the figures have no times. The queue phase is the part of the request
    /// outside its last transfer: waiting for the session or a connection, and the earlier hops of a redirect.
    ///
    /// - Parameter duration: the duration of the whole request, in nanoseconds.
    func phases(ofRequestTaking duration: UInt64) -> PhaseDurations {
        var phases = PhaseDurations()
        guard isTimed else { return phases }
        let waited = isConnectionReused ? transfer.ready : 0
        phases[.queue] = duration - min(duration, Self.nanoseconds(transfer.total - waited))
        if transfer.connections > 0 {
            phases[.dns] = Self.between(0, transfer.name_lookup)
            phases[.connect] = Self.between(transfer.name_lookup, transfer.connect)
            phases[.tls] = Self.between(transfer.connect, transfer.tls)
        }
        if let firstByte, let answer = Self.between(transfer.ready, transfer.total) {
            phases[.firstByte] = min(firstByte, answer)
            phases[.transfer] = answer - min(firstByte, answer)
        }
        return phases
    }

    /// Returns the nanoseconds between two times of libcurl, which are in microseconds; `nil` where the transfer did not
    /// reach the end of the phase.
    private static func between(_ start: Int64, _ end: Int64) -> UInt64? {
        end > 0 && end >= start ? nanoseconds(end - start) : nil
    }

    private static func nanoseconds(_ microseconds: Int64) -> UInt64 {
        UInt64(clamping: microseconds).multipliedReportingOverflow(by: 1000).partialValue
    }
}
#endif
