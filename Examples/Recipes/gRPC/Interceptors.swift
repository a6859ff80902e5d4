import GRPCCore
import Synchronization
import Tracing

/// Makes a span of each outgoing call, and passes the trace on in the call's metadata.
struct ClientTracing: ClientInterceptor {
    /// The name by which the client knows the server. Servers behind one name are one host in the report.
    let address: String
    let port: Int

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingClientRequest<Input>, context: ClientContext,
        next: (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
    ) async throws -> StreamingClientResponse<Output> {
        let call = CallSpan(context.descriptor, .client, address, port, within: .current ?? .topLevel)
        var request = request
        InstrumentationSystem.instrument.inject(call.context, into: &request.metadata, using: MetadataCarrier())
        do {
            var response = try await next(request, context)
            switch response.accepted {
            case .failure(let error): call.end(error)
            case .success(var contents):
                contents.bodyParts = RPCAsyncSequence(wrapping: CallParts(parts: contents.bodyParts, call: call))
                response.accepted = .success(contents)
            }
            return response
        } catch {
            call.end(error)
            throw error
        }
    }
}

/// Makes a span of each incoming call, in the trace of its caller.
struct ServerTracing: ServerInterceptor {
    /// The name by which clients know the server.
    let address: String

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>, context: ServerContext,
        next: @Sendable (StreamingServerRequest<Input>, ServerContext) async throws -> StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        var trace = ServiceContext.topLevel
        InstrumentationSystem.instrument.extract(request.metadata, into: &trace, using: MetadataCarrier())
        // `localPeer` has a form such as `ipv4:127.0.0.1:50051`.
        let port = context.localPeer.split(separator: ":").last.flatMap { Int($0) }
        let call = CallSpan(context.descriptor, .server, address, port, within: trace)
        do {
            var response = try await ServiceContext.withValue(call.context) { try await next(request, context) }
            switch response.accepted {
            case .failure(let error): call.end(error)
            case .success(var contents):
                // The messages are produced after the handler has returned.
                let produce = contents.producer
                contents.producer = { writer in
                    do {
                        let trailer = try await ServiceContext.withValue(call.context) { try await produce(writer) }
                        call.end()
                        return trailer
                    } catch {
                        call.end(error)
                        throw error
                    }
                }
                response.accepted = .success(contents)
            }
            return response
        } catch {
            call.end(error)
            throw error
        }
    }
}

/// The span of a call, with the attributes of OpenTelemetry's semantic conventions ("gRPC"). It ends once: with the call's
/// status, or as cancelled if nobody reads the answer to its end. The status decides whether Martlet counts the call as failed.
private final class CallSpan: Sendable {
    private static let statuses = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]

    private let span: any Span
    private let isRunning = Atomic(true)

    init(_ method: MethodDescriptor, _ kind: SpanKind, _ address: String, _ port: Int?, within context: ServiceContext)
    {
        span = startSpan(method.fullyQualifiedMethod, context: context, ofKind: kind)
        span.attributes["rpc.system.name"] = "grpc"
        span.attributes["rpc.method"] = method.fullyQualifiedMethod
        span.attributes["server.address"] = address
        span.attributes["server.port"] = port
    }

    deinit { end(RPCError(code: .cancelled, message: "the answer was not read to its end")) }

    var context: ServiceContext { span.context }

    func end(_ error: (any Error)? = nil) {
        guard isRunning.exchange(false, ordering: .relaxed) else { return }
        let code = error.map { ($0 as? RPCError)?.code ?? ($0 as? any RPCErrorConvertible)?.rpcErrorCode ?? .unknown }
        span.attributes["rpc.response.status_code"] = Self.statuses[code?.rawValue ?? 0]
        if let error { span.recordError(error) }
        span.end()
    }
}

/// The parts of an answer. The call ends with the last part.
private struct CallParts<Part: Sendable>: AsyncSequence, Sendable {
    let parts: RPCAsyncSequence<Part, any Error>
    let call: CallSpan

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: RPCAsyncSequence<Part, any Error>.AsyncIterator
        let call: CallSpan

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Part? {
            do {
                let part = try await parts.next(isolation: actor)
                if part == nil { call.end() }
                return part
            } catch {
                call.end(error)
                throw error
            }
        }

        mutating func next() async throws -> Part? { try await next(isolation: nil) }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: parts.makeAsyncIterator(), call: call) }
}

private struct MetadataCarrier: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into metadata: inout Metadata) {
        metadata.replaceOrAddString(value, forKey: key)
    }

    func extract(key: String, from metadata: Metadata) -> String? { metadata[stringValues: key].first { _ in true } }
}
