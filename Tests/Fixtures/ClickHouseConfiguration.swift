import Foundation

/// The files of one server of ClickHouse.
struct ClickHouseConfiguration: Sendable {
    /// The folder of its data.
    let folder: URL
    /// The folder that is deleted with the tests.
    let root: URL
    let httpPort: Int
    let tcpPort: Int
    let interserverPort: Int
    /// Further elements: the cluster that the server belongs to.
    var cluster = ""
    /// The files of the certificate and its key for TLS, in PEM; `nil` for plain HTTP.
    var tls: (certificate: String, key: String)?

    /// Takes free ports of loopback.
    init(in folder: URL, of root: URL? = nil) throws {
        self.folder = folder
        self.root = root ?? folder
        let ports = try Loopback.freePorts(3)
        (httpPort, tcpPort, interserverPort) = (ports[0], ports[1], ports[2])
    }

    var path: String { file("config.xml") }

    func write() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try server.write(toFile: path, atomically: true, encoding: .utf8)
        try writeUsers()
    }

    /// Writes the users: `default` has no password, and `martlet` has one. A running server reloads them within seconds.
    ///
    /// - Parameter isReadOnly: whether both may only read.
    func writeUsers(isReadOnly: Bool = false) throws {
        let profile = isReadOnly ? "<default><readonly>2</readonly></default>" : "<default/>"
        let users = """
            <yandex>
                <profiles>\(profile)</profiles><quotas><default/></quotas>
                <users>
                    <default><password></password><networks><ip>127.0.0.1</ip></networks>
                        <profile>default</profile><quota>default</quota></default>
                    <martlet><password>sesame</password><networks><ip>127.0.0.1</ip></networks>
                        <profile>default</profile><quota>default</quota></martlet>
                </users>
            </yandex>
            """
        let path = file("users.xml")
        let files = FileManager.default
        let last = try? files.attributesOfItem(atPath: path)[.modificationDate] as? Date
        try users.write(toFile: path, atomically: true, encoding: .utf8)
        // The server notices a change by the file's time, in whole seconds.
        let time = max(Date(), (last ?? .distantPast).addingTimeInterval(1))
        try files.setAttributes([.modificationDate: time], ofItemAtPath: path)
    }

    private var server: String {
        """
        <yandex>
            <logger><level>warning</level><log>\(file("log"))</log><errorlog>\(file("errors"))</errorlog></logger>
            \(http)<tcp_port>\(tcpPort)</tcp_port>
            <interserver_http_port>\(interserverPort)</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
            <listen_host>127.0.0.1</listen_host><mark_cache_size>67108864</mark_cache_size>
            <path>\(file("data"))/</path><tmp_path>\(file("tmp"))/</tmp_path>
            <user_files_path>\(file("files"))/</user_files_path>
            <merge_tree><old_parts_lifetime>1</old_parts_lifetime></merge_tree>
            <users_config>users.xml</users_config><default_profile>default</default_profile>
            <default_database>default</default_database><timezone>UTC</timezone>\(cluster)
        </yandex>
        """
    }

    private var http: String {
        guard let tls else { return "<http_port>\(httpPort)</http_port>" }
        return """
            <https_port>\(httpPort)</https_port><openSSL><server><certificateFile>\(tls.certificate)</certificateFile>
                <privateKeyFile>\(tls.key)</privateKeyFile><verificationMode>none</verificationMode></server></openSSL>
            """
    }

    private func file(_ name: String) -> String { folder.appendingPathComponent(name).path }
}

extension Loopback {
    /// Returns ports on which no process currently listens.
    static func freePorts(_ count: Int) throws -> [Int] {
        let listeners = try (0..<count).map { _ in try listen() }
        for listener in listeners { close(listener.descriptor) }
        return listeners.map(\.port)
    }
}
