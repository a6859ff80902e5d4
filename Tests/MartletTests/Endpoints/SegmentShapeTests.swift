import Fixtures
import Foundation
import Testing

@testable import Martlet

/// The error rates of the classification: fewer than 1 in 1,000 words is taken for a value, and fewer than 1 in 1,000
/// long random texts for a word.
@Suite struct SegmentShapeTests {
    private static let samples = 20_000

    @Test(arguments: [
        ("hexadecimal", "0123456789abcdef"), ("base32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        ("base36", "0123456789abcdefghijklmnopqrstuvwxyz"),
        ("base58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
        ("base62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        ("base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+="),
        ("base64url", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
    ])
    func randomTextIsAValue(alphabet: String, characters: String) {
        var random = SeededGenerator(seed: 1)
        let characters = Array(characters.utf8)
        let names = (0..<Self.samples).count { _ in
            let length = Int.random(in: 16...200, using: &random)
            let text = (0..<length).map { _ in characters[Int.random(in: characters.indices, using: &random)] }
            return SegmentShape(of: text[...]) == .name
        }
        #expect(names * 1000 < Self.samples, "\(names) random texts of \(alphabet) passed for names")
    }

    /// Codes and ids that have a digit. Those of letters only look like words too often; ``VaryingPlaces`` learns them.
    @Test(arguments: [
        ("0123456789abcdef", 30), ("0123456789ABCDEF", 30), ("0123456789abcdefghijklmnopqrstuvwxyz", 60),
        ("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 40),
        ("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 20), ("bcdfghjklmnpqrstvwxz2456789", 30),
    ])
    func shortIDWithADigitIsAValue(characters: String, permitted: Int) {
        var random = SeededGenerator(seed: 3)
        for length in 4...13 {
            let names = (0..<2000).map { _ in Self.id(characters, length, &random) }
                .filter { $0.contains { $0.isNumber } && SegmentShape(of: Array($0.utf8)[...]) == .name }
            #expect(names.count <= permitted, "\(length) characters: \(names)")
        }
    }

    /// Ids of 7 and more characters, whether they have a digit or not.
    @Test(arguments: [
        "0123456789abcdefghijklmnopqrstuvwxyz", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    ])
    func shortIDIsAValue(characters: String) {
        var random = SeededGenerator(seed: 4)
        for length in 7...13 {
            let names = (0..<2000).map { _ in Self.id(characters, length, &random) }
                .filter { SegmentShape(of: Array($0.utf8)[...]) == .name }
            #expect(names.count <= 100, "\(length) characters: \(names)")
        }
    }

    private static func id(_ characters: String, _ length: Int, _ random: inout SeededGenerator) -> String {
        let characters = Array(characters)
        return String((0..<length).map { _ in characters[Int.random(in: characters.indices, using: &random)] })
    }

    @Test(arguments: [
        "logs-2024.01.15", "logs-2024-05-12", "logs_2024_01", "24-02-23T05", "report-20240115", "proj-3525", "user4606",
        "ip-10-0-1-23.ec2", "10-0-1-23", "ec2-3-120-4-5", "host-10.0.0.1", "nginx-7d9c6b8b5f-x2kq9", "kube-proxy-8xk2p",
        "web-6b7f8d9c5", "k3j9x2", "AB12CD", "x7Qp2", "a1b2", "ff00aa", "123abc", "1a", "LH454", "TX6M03", "C024BE91L",
        "cus_NffrFeUfNV2Hib", "IMG_1234", "AKIAIOSFODNN7EXAMPLE", "2bb1b0e",
    ])
    func datesAddressesAndCodesAreValues(segment: String) {
        #expect(SegmentShape(of: Array(segment.utf8)[...]) == .value(suffix: []))
    }

    @Test func numberedNamesOfPublicInterfacesAreNames() {
        let values = Self.numberedNames.filter { SegmentShape(of: Array($0.utf8)[...]) != .name }
        #expect(values.count * 100 <= Self.numberedNames.count, "passed for values: \(values)")
    }

    /// Segments with digits of the interfaces of Amazon, Google, Kubernetes, Stripe, Slack, Elasticsearch and GitHub, and
    /// of regions, models and files.
    private static let numberedNames = """
        CreateOauth2CredentialProvider CreateS3TableIntegration GetRemediationsV2 GetS3TableIntegration
        ListExposuresByRemediationV2 ListOutpostsWithS3 S3Outposts UpdateOauth2CredentialProvider a2a a2aTaskRecords
        a2aTasks admissionregistration.k8s.io aggregatorv2 apiextensions.k8s.io as2805kekvalidation
        associatedRoute53HealthChecks authentication.k8s.io automationrulesv2 batchupdatev2 certificates.k8s.io
        connectorsv2 coordination.k8s.io dataflowEndpointGroupV2 directory_v1 discovery.k8s.io
        displayVideo360AdvertiserLinkProposals displayVideo360AdvertiserLinks ec2 ec2deepinspectionconfiguration
        ec2deepinspectionstatus exportjobsv2 findingsTrendsv2 findingsv2 flowcontrol.apiserver.k8s.io hl7V2Stores hubv2
        i18nLanguages i18nRegions internal.apiserver.k8s.io list-real-time-analysis-segments-v2 networking.k8s.io
        oauth.v2.access oauth2 principals-v2 productsV2 productsv2 rbac.authorization.k8s.io recaptchaV3Config
        recaptchaV3Config:batchGet recommendedPolicyV2 reports_v1 resourcesTrendsv2 resourcesv2 s3 s3Buckets s3_file_url
        s3accesspolicy schemav2 searchAds360:mutate searchAds360Campaigns:mutate searchAds360Fields searchAds360Links
        securityProfilesV2 send-to-s3 softwarev2 statusv2 storage.k8s.io subscriptionsv2 things-v2 ticketsv2 topicsV2 v0
        v1 v1.1 v1.4 v1:answerQuery v1alpha v1alpha1 v1alpha3 v1b3 v1beta v1beta1 v1beta1a v1beta5 v1configuration
        v1management v1p1beta1 v1p7beta1 v2 v2.1 v20180820 v20210603 v23 v2LoggingLevel v2LoggingOptions v2alpha1
        v2beta3 v3 v3.5 v3beta1 v3p1beta1 v4 v4beta v5 eu-west-1 us-central1 us-central1-a europe-west4-b us-east-1a
        gpt-4o-mini gemini-1.5-pro claude-3-5-sonnet whisper-1 text-embedding-3-small jquery-3.7.1.min.js
        lodash-4.17.21.tgz spring-core-5.3.20.jar v8.6.12-rc5 1.0.0-beta.3 requests-2.31.0-py3-none-any.whl
        report-2024.pdf page2.html chapter-12.xhtml track01.mp3 user_42 team-42 web-0 step2 line1 address2 top10 last-7d
        sha-256 utf-8 q1 2024-q1 p12 hex8kind getUserProfileSettings2 a-rather-long-name-with-4-words
        10-tips-for-better-sleep
        """.split(whereSeparator: \.isWhitespace).map(String.init)

    @Test func everyTermWithADigitIsAName() {
        for term in NumberedName.terms {
            for text in [term, term.uppercased(), "\(term)-service"] {
                #expect(SegmentShape(of: Array(text.utf8)[...]) == .name, "\(text)")
            }
        }
        for word in NumberedName.shortWords {
            for text in ["\(word)2", "\(word)12", "\(word.capitalized)2"] {
                #expect(SegmentShape(of: Array(text.utf8)[...]) == .name, "\(text)")
            }
        }
    }

    @Test func everyAcronymIsPartOfNames() {
        for acronym in Acronyms.all.map({ String(decoding: $0, as: UTF8.self) }) {
            for text in ["\(acronym)status", "my\(acronym.uppercased())Status", "get\(acronym.capitalized)"] {
                #expect(SegmentShape(of: Array(text.utf8)[...]) == .name, "\(text)")
            }
        }
    }

    /// The words of Debian's `wamerican`.
    private static let words: [String] = {
        let list = (try? String(contentsOfFile: "/usr/share/dict/words", encoding: .utf8)) ?? ""
        return list.split(separator: "\n").map(String.init).filter { word in
            word.utf8.count > 1 && word.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        }
    }()

    /// At most 5 in 100 numbered words (`step2`) pass for values, mostly short ones.
    @Test(arguments: [
        ("words", 1), ("hyphens", 1), ("underscores", 1), ("camel case", 1), ("capitals", 1), ("versions", 1),
        ("numbers", 50),
    ])
    func wordsAreNames(spelling: String, permitted: Int) throws {
        try #require(Self.words.count > 10_000, "a list of words")
        var random = SeededGenerator(seed: 2)
        var values: [String] = []
        for _ in 0..<Self.samples {
            let text = try Self.text(spelling, &random)
            if SegmentShape(of: Array(text.utf8)[...]) != .name { values.append(text) }
        }
        #expect(values.count * 1000 < Self.samples * permitted, "passed for values: \(values)")
    }

    private static func text(_ spelling: String, _ random: inout SeededGenerator) throws -> String {
        let number = Int.random(in: 1...20, using: &random)
        let words = try (0..<Int.random(in: 2...4, using: &random)).map { _ in
            try #require(Self.words.randomElement(using: &random))
        }
        return switch spelling {
        case "hyphens": words.joined(separator: "-")
        case "underscores": words.joined(separator: "_")
        case "camel case": words[0] + words.dropFirst().map(\.capitalized).joined()
        case "capitals": words[0].uppercased()
        case "versions": words[0] + ["-v", "-", ".v", "_v"][number % 4] + "\(number)"
        case "numbers": words[0] + ["v", ""][number % 2] + "\(number)"
        default: words[0]
        }
    }
}
