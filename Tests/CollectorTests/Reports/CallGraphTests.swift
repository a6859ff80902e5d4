import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct CallGraphTests {
    private static func requests(
        _ service: String, _ kind: RequestKind, _ host: String, _ count: Int, status: Int? = 200, error: String? = nil,
        system: String? = nil
    ) -> RequestGroup {
        CallBatch.group(
            service, kind, host, Array(repeating: 0.1, count: count), status: status, error: error, system: system)
    }

    private static func graph(_ groups: [RequestGroup], _ calls: Set<ObservedCall> = []) -> CallGraph {
        CallGraph(groups, calls, seconds: 60)
    }

    private static func texts(_ graph: CallGraph) -> [String] {
        graph.edges.map { edge in
            let (sent, arrived) = (
                edge.sent.map { String($0.count) } ?? "?", edge.arrived.map { String($0.count) } ?? "?"
            )
            return "\(edge.caller.name) > \(edge.callee.name): \(sent) \(arrived)"
        }
    }

    @Test func calledHostLeadsToTheServiceThatServedUnderIt() {
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "pay:8443", 10), Self.requests("pay", .server, "pay:8443", 9),
                Self.requests("shop", .server, "shop:443", 5), Self.requests("pay", .client, "bank:443", 4),
            ])
        #expect(Self.texts(graph) == ["shop > pay: 10 9", "Callers outside > shop: ? 5", "pay > bank:443: 4 ?"])
    }

    @Test func onlyRequestsWithoutAConnectionCountAsLost() throws {
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "pay:8443", 10),
                Self.requests("shop", .client, "pay:8443", 3, status: nil, error: "connection_refused"),
                Self.requests("shop", .client, "pay:8443", 2, status: nil, error: "timeout"),
                Self.requests("shop", .client, "pay:8443", 1, status: nil, error: "cancelled"),
                Self.requests("shop", .client, "pay:8443", 4, status: 503, error: "503"),
                Self.requests("pay", .server, "pay:8443", 15),
            ])
        let edge = try #require(graph.edges.first)
        #expect(graph.edges.count == 1)
        #expect(edge.sent?.count == 20)
        #expect(edge.lost == 3)
        #expect(edge.unanswered == 3)
        #expect(edge.lostErrors == ["connection_refused"])
    }

    @Test func callersOfOneHostAreComparedTogether() {
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "pay:8443", 10), Self.requests("desk", .client, "pay:8443", 7),
                Self.requests("pay", .server, "pay:8443", 16),
            ])
        #expect(Self.texts(graph) == ["shop > pay: 10 16", "desk > pay: 7 16"])
        #expect(graph.edges.map(\.sharedBy) == [2, 2])
        #expect(graph.edges.map(\.sentByAll) == [17, 17])
    }

    @Test func keptSpansIdentifyTheServiceBehindAProxy() {
        let call = ObservedCall(caller: "shop", calledHost: "proxy:80", callee: "pay", servedHost: "10.0.0.1:8443")
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "proxy:80", 10), Self.requests("pay", .server, "10.0.0.1:8443", 9),
            ], [call])
        #expect(Self.texts(graph) == ["shop > pay: 10 9"])
        #expect(graph.edges.map(\.comesFromSpans) == [true])
        #expect(graph.edges.map(\.servedHosts) == [["10.0.0.1:8443"]])
    }

    @Test func proxyInFrontOfSeveralServicesIsAPlaceOnTheMap() {
        let calls = ["pay", "stock"].map {
            ObservedCall(caller: "shop", calledHost: "proxy:80", callee: $0, servedHost: "\($0):1")
        }
        let graph = Self.graph([Self.requests("shop", .client, "proxy:80", 10)], Set(calls))
        #expect(Self.texts(graph) == ["shop > proxy:80: 10 ?"])
    }

    @Test func hostOfSeveralServicesIsAPlaceBetweenThem() {
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "gate:443", 10), Self.requests("pay", .server, "gate:443", 6),
                Self.requests("stock", .server, "gate:443", 4),
            ])
        #expect(Self.texts(graph) == ["shop > gate:443: 10 ?", "gate:443 > pay: ? 6", "gate:443 > stock: ? 4"])
    }

    @Test func serviceThatCallsItselfHasAnEdgeToItself() {
        let graph = Self.graph(
            [Self.requests("shop", .client, "shop:80", 3), Self.requests("shop", .server, "shop:80", 3)])
        #expect(Self.texts(graph) == ["shop > shop: 3 3"])
    }

    @Test func hostsWithoutANameOrPastTheLimitLeadToNoService() {
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "{other}", 3), Self.requests("pay", .server, "{other}", 3),
                Self.requests("stock", .server, "", 2),
            ])
        #expect(
            Self.texts(graph) == ["Callers outside > pay: ? 3", "shop > {other}: 3 ?", "Callers outside > stock: ? 2"])
    }

    @Test func callerBehindAProxyAndDirectCallerShareTheCount() {
        let call = ObservedCall(caller: "shop", calledHost: "proxy:80", callee: "pay", servedHost: "pay:8443")
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "proxy:80", 1000), Self.requests("jobs", .client, "pay:8443", 100),
                Self.requests("pay", .server, "pay:8443", 1100),
            ], [call])
        #expect(Self.texts(graph) == ["shop > pay: 1000 1100", "jobs > pay: 100 1100"])
        #expect(graph.edges.map(\.sharedBy) == [2, 2])
        #expect(graph.edges.map(\.uncounted) == [nil, nil])
    }

    @Test func balancerInFrontOfSeveralInstancesIsOneEdge() {
        let calls = ["10.0.0.1:80", "10.0.0.2:80"].map {
            ObservedCall(caller: "shop", calledHost: "balancer:443", callee: "pay", servedHost: $0)
        }
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "balancer:443", 100), Self.requests("pay", .server, "10.0.0.1:80", 60),
                Self.requests("pay", .server, "10.0.0.2:80", 40),
            ], Set(calls))
        #expect(Self.texts(graph) == ["shop > pay: 100 100"])
        #expect(graph.edges.first?.servedHosts == ["10.0.0.1:80", "10.0.0.2:80"])
        #expect(graph.edges.first?.uncounted == 0)
    }

    @Test func onlyTheFirstServedHostsAreNamed() {
        let hosts = (1...5).map { "10.0.0.\($0):80" }
        let calls = hosts.map {
            ObservedCall(caller: "shop", calledHost: "balancer:443", callee: "pay", servedHost: $0)
        }
        let graph = Self.graph(
            [Self.requests("shop", .client, "balancer:443", 100)] + hosts.map { Self.requests("pay", .server, $0, 20) },
            Set(calls))
        #expect(graph.edges.map(\.otherHosts) == ["10.0.0.1:80, 10.0.0.2:80, 10.0.0.3:80 and 2 more"])
    }

    @Test func requestsThatNoKnownCallerSentAreCounted() {
        let graph = Self.graph([
            Self.requests("shop", .client, "pay:8443", 120),
            Self.requests("shop", .client, "pay:8443", 20, status: nil, error: "connection_refused"),
            Self.requests("pay", .server, "pay:8443", 500),
        ])
        #expect(graph.edges.map(\.fromOutside) == [380])
        #expect(graph.edges.map(\.uncounted) == [0])
    }

    @Test func edgesWithLostRequestsComeFirst() {
        let graph = Self.graph([
            Self.requests("shop", .client, "pay:8443", 900),
            Self.requests("shop", .client, "mail:25", 2, status: nil, error: "dns"),
        ])
        #expect(Self.texts(graph) == ["shop > mail:25: 2 ?", "shop > pay:8443: 900 ?"])
    }

    @Test func callersOfOverlappingInstancesShareTheCount() {
        let calls = [("shop", "balancer:443", "10.0.0.1:80"), ("shop", "balancer:443", "10.0.0.2:80")].map {
            ObservedCall(caller: $0, calledHost: $1, callee: "pay", servedHost: $2)
        }
        let graph = Self.graph(
            [
                Self.requests("shop", .client, "balancer:443", 90), Self.requests("desk", .client, "10.0.0.2:80", 10),
                Self.requests("mail", .client, "10.0.0.1:80", 5), Self.requests("pay", .server, "10.0.0.1:80", 55),
                Self.requests("pay", .server, "10.0.0.2:80", 50),
            ], Set(calls))
        #expect(Self.texts(graph) == ["shop > pay: 90 105", "desk > pay: 10 105", "mail > pay: 5 105"])
        #expect(graph.edges.map(\.sharedBy) == [3, 3, 3])
        #expect(graph.edges.map(\.sentByAll) == [105, 105, 105])
    }

    @Test func databaseOfSeveralServicesIsOnePlace() {
        let graph = Self.graph([
            Self.requests("shop", .client, "db:5432", 10, status: nil, system: "postgresql"),
            Self.requests("shop", .client, "db:5432", 2, status: nil, error: "23505", system: "postgresql"),
            Self.requests("desk", .client, "db:5432", 7, status: nil, system: "postgresql"),
        ])
        #expect(Self.texts(graph) == ["shop > db:5432 (postgresql): 12 ?", "desk > db:5432 (postgresql): 7 ?"])
        #expect(graph.edges.map(\.lost) == [0, 0])
        #expect(graph.edges.map(\.unanswered) == [2, 0])
    }

    @Test func hostIsAPlaceForEachSystemThatIsCalledThere() {
        let graph = Self.graph([
            Self.requests("shop", .client, "es:9200", 3),
            Self.requests("shop", .client, "es:9200", 4, status: nil, system: "elasticsearch"),
        ])
        #expect(Self.texts(graph) == ["shop > es:9200 (elasticsearch): 4 ?", "shop > es:9200: 3 ?"])
    }

    @Test(arguments: ["grpc", nil])
    func remoteProcedureCallsLeadToTheServiceThatServesTheHost(served system: String?) {
        let graph = Self.graph([
            Self.requests("shop", .client, "pay:50051", 10, status: nil, system: "grpc"),
            Self.requests("pay", .server, "pay:50051", 9, status: nil, system: system),
        ])
        #expect(Self.texts(graph) == ["shop > pay: 10 9"])
        #expect(graph.edges.map(\.system) == ["grpc"])
    }

    @Test func databaseAtTheHostOfAnotherSystemsServiceIsAPlace() {
        let graph = Self.graph([
            Self.requests("shop", .client, "node", 8, status: nil, system: "postgresql"),
            Self.requests("pay", .server, "node", 9, status: nil, system: "grpc"),
        ])
        #expect(Self.texts(graph) == ["Callers outside > pay: ? 9", "shop > node (postgresql): 8 ?"])
    }

    @Test func hostWhoseServicesServeOneSystemIsAPlaceBetweenThem() {
        let graph = Self.graph([
            Self.requests("shop", .client, "gate:443", 10, status: nil, system: "grpc"),
            Self.requests("pay", .server, "gate:443", 6, status: nil, system: "grpc"),
            Self.requests("stock", .server, "gate:443", 4, status: nil, system: "grpc"),
        ])
        #expect(
            Self.texts(graph) == [
                "shop > gate:443 (grpc): 10 ?", "gate:443 (grpc) > pay: ? 6", "gate:443 (grpc) > stock: ? 4",
            ])
    }
}
