import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Martlet
import Tracing

/// A gRPC service and its client. Each call is counted by its method, on both sides.
@main struct GRPCRecipe {
    static func main() async throws {
        let agent = MartletAgent.start()
        let address = "127.0.0.1"
        try await withGRPCServer(
            transport: .http2NIOPosix(address: .ipv4(host: address, port: 0), transportSecurity: .plaintext),
            services: [Orders()], interceptors: [ServerTracing(address: address)]
        ) { server in
            guard let port = try await server.listeningAddress?.ipv4?.port else { return }
            try await withGRPCClient(
                transport: .http2NIOPosix(
                    target: .ipv4(address: address, port: port), transportSecurity: .plaintext),
                interceptors: [ClientTracing(address: address, port: port)]
            ) { client in
                // A span around several calls puts them into one trace.
                try await withSpan("shopping") { _ in try await shop(client) }
            }
        }
        await agent.shutdown()
    }

    private static func shop(_ client: GRPCClient<some ClientTransport>) async throws {
        for order in ["1", "2", "none"] {
            do { print("place \(order):", try await ask(client, Orders.place, order)) } catch let error as RPCError {
                print("place \(order):", error.code)
            }
        }
        do { print("find 7:", try await ask(client, Orders.find, "7")) } catch let error as RPCError {
            print("find 7:", error.code)
        }
        try await client.serverStreaming(
            request: ClientRequest(message: "1"), descriptor: Orders.watch, serializer: Text(), deserializer: Text(),
            options: .defaults
        ) { answer in
            for try await state in answer.messages { print("watch 1:", state) }
        }
    }

    private static func ask(
        _ client: GRPCClient<some ClientTransport>, _ method: MethodDescriptor, _ text: String
    ) async throws -> String {
        try await client.unary(
            request: ClientRequest(message: text), descriptor: method, serializer: Text(), deserializer: Text(),
            options: .defaults
        ) { try $0.message }
    }
}

/// A service without a `.proto` file, so that the recipe builds without `protoc`. With one, the generated code contains the
/// descriptors, the coding and the registration.
struct Orders: RegistrableRPCService {
    static let place = MethodDescriptor(fullyQualifiedService: "shop.Orders", method: "Place", type: .unary)
    static let find = MethodDescriptor(fullyQualifiedService: "shop.Orders", method: "Find", type: .unary)
    static let watch = MethodDescriptor(fullyQualifiedService: "shop.Orders", method: "Watch", type: .serverStreaming)

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.place, deserializer: Text(), serializer: Text()) { request, _ in
            let order = try await ServerRequest(stream: request).message
            // The server fails, so this counts as a failure on both sides.
            guard Int(order) != nil else { throw RPCError(code: .internalError, message: "no such number") }
            return StreamingServerResponse(single: ServerResponse(message: "placed"))
        }
        router.registerHandler(forMethod: Self.find, deserializer: Text(), serializer: Text()) { _, _ in
            // This answer is a failure for the client, but not for the server.
            StreamingServerResponse<String>(error: RPCError(code: .notFound, message: "no such order"))
        }
        router.registerHandler(forMethod: Self.watch, deserializer: Text(), serializer: Text()) { _, _ in
            StreamingServerResponse { writer in
                for state in ["packed", "sent", "delivered"] { try await writer.write(state) }
                return [:]
            }
        }
    }
}

struct Text: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) -> Bytes { Bytes(message.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
