import Fixtures
import Foundation
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import Martlet

/// The choice of a proxy by the collector's address, the configuration and the environment.
@Suite struct UploadProxiesTests {
    private static let everyProxy = [
        "http_proxy": "http://env:1", "https_proxy": "http://env:2", "HTTPS_PROXY": "http://env:3",
        "all_proxy": "http://env:4", "ALL_PROXY": "http://env:5",
    ]

    private static let near = [
        "localhost", "LOCALHOST.", "db.localhost", "localhost.localdomain", "127.0.0.1", "127.255.0.9", "0.0.0.0",
        "[::1]", "[::]", "[::ffff:127.0.0.1]", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.4.4", "100.64.0.1",
        "100.127.255.255", "169.254.169.254", "[fc00::1]", "[fdff::9]", "[fe80::1]", "[febf::1]", "[::ffff:10.0.0.1]",
        "collector", "collector.local", "otel.monitoring.svc", "otel.monitoring.svc.cluster.local",
        "host.docker.internal", "ip-10-0-1-23.ec2.internal", "otel.corp", "otel.intranet", "otel.private", "otel.home",
        "nas.home.arpa", "box.lan",
    ]

    private static let far = [
        "collector.example.com", "localhost.example.com", "internal.example.com", "notlocal.io", "a.notlocal",
        "10.example.com", "8.8.8.8", "11.0.0.1", "126.0.0.1", "128.0.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1",
        "100.63.0.1", "100.128.0.1", "169.253.0.1", "[2001:db8::1]", "[fbff::1]", "[fec0::1]", "[::ffff:8.8.8.8]",
    ]

    private static func way(
        to collector: String, proxy: String? = nil, _ environment: [String: String]
    ) throws -> String {
        var configuration = MartletConfiguration()
        configuration.proxy = try proxy.map { try #require(URL(string: $0)) }
        let way = UploadProxies(configuration, environment: environment).way(to: try #require(URL(string: collector)))
        return switch way {
        case .direct: "direct"
        case .without(let variable): "without \(variable)"
        case .proxy(let url): url.absoluteString
        }
    }

    @Test(arguments: near) func noProxyIsBetweenAServiceAndACollectorOnItsHostOrInItsNetwork(host: String) throws {
        for collector in ["http://\(host):4318", "https://\(host)"] {
            #expect(try Self.way(to: collector, Self.everyProxy) == "direct")
            #expect(try Self.way(to: collector, proxy: "http://own:1", Self.everyProxy) == "direct")
        }
    }

    @Test(arguments: HostPattern.privateHosts) func documentNamesEveryPrivateNetwork(host: String) throws {
        let text = try Repository.text("docs/internals/uploads.md")
        #expect(text.contains("`\(host)`") || text.contains("`.\(host)`"))
    }

    @Test(arguments: far) func uploadsToAPublicHostGoOverTheConfiguredProxy(host: String) throws {
        for collector in ["http://\(host):4318", "https://\(host)"] {
            #expect(try Self.way(to: collector, proxy: "http://own:1", Self.everyProxy) == "http://own:1")
        }
        #expect(try Self.way(to: "http://\(host):4318", Self.everyProxy) == "without http_proxy")
        #expect(try Self.way(to: "https://\(host)", Self.everyProxy) == "http://env:2")
    }

    private static let environments: [(scheme: String, environment: [String: String], way: String)] = [
        ("http", [:], "direct"), ("https", [:], "direct"),
        ("http", ["http_proxy": "http://p:1"], "without http_proxy"),
        ("http", ["all_proxy": "http://p:1"], "without all_proxy"),
        // curl does not use it either.
        ("http", ["HTTP_PROXY": "http://p:1"], "direct"),
        ("http", ["https_proxy": "http://p:1"], "direct"),
        ("https", ["http_proxy": "http://p:1"], "direct"),
        ("https", ["https_proxy": "http://p:1", "HTTPS_PROXY": "http://q:1"], "http://p:1"),
        ("https", ["https_proxy": "", "HTTPS_PROXY": "http://q:1"], "http://q:1"),
        ("https", ["all_proxy": "socks5h://p:1080"], "socks5h://p:1080"),
        ("https", ["ALL_PROXY": "http://p:1"], "http://p:1"),
        ("https", ["https_proxy": "grace:hunter2@p:1"], "http://grace:hunter2@p:1"),
        ("https", ["https_proxy": "ftp://p:1"], "without https_proxy"),
    ]

    @Test(arguments: environments)
    func onlyEncryptedUploadsUseTheProxiesOfTheEnvironment(
        scheme: String, environment: [String: String], way: String
    ) throws {
        #expect(try Self.way(to: "\(scheme)://collector.example.com", environment) == way)
    }

    @Test(arguments: [
        ("example.com", true), (".example.com", true), ("*.example.com", true), ("*", true),
        ("other.net, COLLECTOR.example.com", true), ("ample.com", false), ("a.collector.example.com", false),
        ("", false),
    ])
    func hostsOfNoProxyAreReachedDirectly(list: String, isDirect: Bool) throws {
        for variable in ["no_proxy", "NO_PROXY"] {
            let environment = ["https_proxy": "http://p:1", variable: list]
            let expected = { isDirect ? "direct" : $0 }
            #expect(try Self.way(to: "https://collector.example.com", environment) == expected("http://p:1"))
            #expect(
                try Self.way(to: "https://collector.example.com", proxy: "http://own:1", environment)
                    == expected("http://own:1"))
        }
    }

    @Test(arguments: [
        ("203.0.113.7", true), ("203.0.113.0/24", true), ("203.0.112.0/23", true), ("203.0.112.0/24", false),
        ("2001:db8::/32", false), ("203.0.113.0/-1", false), ("203.0.113.0/\(Int.min)", false),
    ])
    func noProxyMayNameRangesOfAddresses(list: String, isDirect: Bool) throws {
        let way = try Self.way(to: "https://203.0.113.7", ["https_proxy": "http://p:1", "no_proxy": list])
        #expect(way == (isDirect ? "direct" : "http://p:1"))
    }

    /// `URLSession` on Linux takes the environment's proxies for every host.
    @Test func aProxyInTheEnvironmentNeedsLibcurl() throws {
        var configuration = MartletConfiguration()
        let needs = { UploadProxies(configuration, environment: $0).settingsNeedingLibcurl }
        #expect(needs([:]) == [])
        #expect(needs(["no_proxy": "*"]) == [])
        #expect(needs(Self.everyProxy) == ["exceptions to http_proxy", "exceptions to https_proxy"])
        configuration.proxy = URL(string: "http://own:1")
        #expect(UploadProxies(configuration, environment: [:]).settingsNeedingLibcurl == ["MARTLET_PROXY"])
    }
}

extension AgentTests {
    @Suite struct UploadProxyTests {
        /// A proxy asks for another password. The token is for the collector only.
        @Test func refusalOfAProxyIsReportedWithItsNameAndWithoutAnySecret() async throws {
            let (proxy, folder, log) = (try RefusingProxy(), try TemporaryFolder(), InMemoryLogHandler())
            var configuration = MartletConfiguration()
            configuration.bufferDirectory = folder.url
            configuration.collector = try #require(URL(string: "https://collector.example.com"))
            configuration.proxy = URL(string: "http://grace:hunter2@127.0.0.1:\(proxy.port)")
            configuration.token = "s3cret"
            configuration.interval = .seconds(60)
            configuration.logger = Logger(label: "test", factory: { _ in log })
            let agent = MartletAgent.start(configuration)
            let url = try #require(URL(string: "https://api.example.com/hello"))
            agent.record(MartletRequest("GET", url, status: 200, start: Date(), duration: .milliseconds(1)))
            await agent.flush()
            let error = agent.status.uploadError ?? ""
            #expect(error.contains("407") && error.hasSuffix(" (over the proxy http://127.0.0.1:\(proxy.port))"))
            #expect(agent.status.ledger == .init(captured: 1, waiting: 1))
            #expect(!proxy.heads.isEmpty)
            for head in proxy.heads {
                #expect(head.hasPrefix("CONNECT collector.example.com:443 "))
                #expect(head.contains("Proxy-Authorization: Basic Z3JhY2U6aHVudGVyMg=="))
                #expect(!head.contains("s3cret"))
            }
            #expect(log.entries.contains { "\($0)".contains("over the proxy") })
            #expect(log.entries.allSatisfy { !"\($0)".contains("hunter2") && !"\($0)".contains("s3cret") })
            await agent.shutdown(within: .milliseconds(100))
        }
    }
}

/// A proxy that answers every request with 407. It closes when the value is released.
final class RefusingProxy: Sendable {
    let port: Int
    private let listener: Int32
    private let received = Mutex<[String]>([])

    init() throws {
        (listener, port) = try Loopback.listen()
        Thread { [weak self, listener] in
            while let connection = Loopback.accept(from: listener) {
                self?.refuse(connection)
                connection.close()
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The heads of the requests.
    var heads: [String] { received.withLock { $0 } }

    private func refuse(_ connection: Connection) {
        var head = ""
        while !head.contains("\r\n\r\n") {
            let part = connection.read()
            if part.isEmpty { return }
            head += String(decoding: part, as: UTF8.self)
        }
        received.withLock { $0.append(head) }
        connection.write("HTTP/1.1 407 Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    }
}
