import Foundation
import Testing

@testable import Martlet

@Suite struct RedactionTests {
    private let redaction = Redaction(adding: ["card number", "Überweisung", "--"])

    private func body(
        _ text: String, _ contentType: String = "application/json", isTruncated: Bool = false
    ) -> String? {
        redaction.body(Array(text.utf8), contentType: contentType, isTruncated: isTruncated)
    }

    // MARK: - URLs

    @Test(arguments: [
        ("https://host.example/a/b", "https://host.example/a/b"),
        ("https://ada:hunter2@host.example:8443/a", "https://REDACTED:REDACTED@host.example:8443/a"),
        ("https://ada@host/", "https://REDACTED:REDACTED@host/"),
        ("https://a@b:c@host/", "https://REDACTED:REDACTED@host/"),
        ("https://[::1]:80/a", "https://[::1]:80/a"),
        ("https://host/a?q=hunter2&page=1&empty=", "https://host/a?q=REDACTED&page=REDACTED&empty="),
        ("https://host/a?filter[user.name]=hunter2", "https://host/a?filter[user.name]=REDACTED"),
        ("https://host/a#hunter2", "https://host/a"),
        ("https://host/a?x=1#hunter2?y=2", "https://host/a?x=REDACTED"),
        ("/next?page=hunter2", "/next?page=REDACTED"),
        ("https://host/cart;jsessionid=hunter2/x;hunter2", "https://host/cart;jsessionid=REDACTED/x;REDACTED"),
        ("", ""),
    ])
    func urlKeepsItsHostPathAndParameterNames(url: String, expected: String) {
        #expect(redaction.url(url) == expected)
    }

    @Test(arguments: [
        "https://host/?hunter2", "https://host/?&hunter2&", "https://host/?hunter2%3D1", "https://host/?=hunter2",
        "https://host/?hun%20ter2hunter2=1", "https://host/?a=hunter2=hunter2",
        "https://host/?507f1f77bcf86cd799439011hunter2&x", "https://ada:hun/hunter2@host/",
        "https://ada:hun?hunter2@host",
        "https://ada:hunter2", "//ada:hunter2@host", " https://ada:hunter2@host", "https:\\\\ada:hunter2@host\\x",
        "https:/ada:hunter2@host", "data:text/plain,hunter2", "mailto:hunter2",
        "https://proxy/http://ada:hunter2@host/",
        "https://host/a?\u{301}token=hunter2", "https://host/a#\u{301}hunter2", "https://ada:hunter2@\u{301}host/",
        "https://host:80:hunter2/",
    ])
    func hostileURLKeepsNoSecret(url: String) {
        #expect(redaction.url(url).contains("hunter2") == false)
    }

    @Test(arguments: [String(repeating: "x", count: 65), "507f1f77bcf86cd799439011", "V1StGXR8Z5jdHi6BmyT12"])
    func parameterWhoseNameLooksLikeAValueIsRemoved(name: String) {
        #expect(redaction.url("https://host/?\(name)=1") == "https://host/?REDACTED")
    }

    @Test func longURLIsCutBetweenTwoCharacters() {
        let redaction = Redaction(keepsSegments: true)
        let url = redaction.url("https://host/" + String(repeating: "\u{1f600}", count: 1000))
        #expect(url.utf8.count <= 2048)
        #expect(url.utf8.count > 2044)
        #expect(url.unicodeScalars.contains("\u{fffd}") == false)
    }

    @Test(arguments: [String(repeating: "hunter2", count: 40), "ada:" + String(repeating: "4711", count: 70)])
    func textTooLongForAHostIsTreatedAsASecret(user: String) {
        #expect(redaction.url("https://" + user) == "https://REDACTED")
    }

    // MARK: - Messages

    /// Messages of errors are kept by default.
    @Test(arguments: [
        (
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=hunter2==;EndpointSuffix=core.windows.net",
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=REDACTED"
        ),
        (
            "cannot open \"Server=h;AccountKey=hunter2==;\": no route",
            "cannot open \"Server=h;AccountKey=REDACTED\": no route"
        ),
        ("Endpoint=sb://x.example/;SharedAccessKeyName=R;SharedAccessKey=hunter2=", "Endpoint=sb://x.example/REDACTED"),
        (
            "BlobEndpoint=https://x.example;SharedAccessSignature=sv=2015&sig=hunter2%3D",
            "BlobEndpoint=https://x.example;SharedAccessSignature=REDACTED"
        ),
        (
            "Server=tcp:h,1433;User ID=ada;Password=hunter2;Encrypt=True",
            "Server=tcp:h,1433;User ID=ada;Password=REDACTED"
        ),
        ("Server=h;Password={hun;hunter2};Encrypt=True", "Server=h;Password=REDACTED;Encrypt=True"),
        ("Password=my long hunter2;Server=h", "Password=REDACTED;Server=h"),
        ("\"Server=h;Password=my long hunter2\" failed", "\"Server=h;Password=REDACTED\" failed"),
        ("host=h user=ada password='my hunter2' dbname=d", "host=h user=ada password='REDACTED' dbname=d"),
        ("jdbc:sqlserver://h:1433;user=ada;password=hunter2;", "jdbc:sqlserver://h:1433;user=ada;password=REDACTED"),
        ("postgres://ada:hunter2@h:5432/db?sslmode=x", "postgres://REDACTED:REDACTED@h:5432/db?sslmode=REDACTED"),
        ("postgres://h/db?user=ada&password=hunter2", "postgres://h/db?user=REDACTED&password=REDACTED"),
        ("mongodb://ada:hunter2@h1:1,h2:2/db", "mongodb://REDACTED:REDACTED@h1:1,h2:2/db"),
        ("redirect=https://host&token=hunter2", "redirect=https://host&token=REDACTED"),
        ("GET /callback?code=hunter2&state=hunter2 failed", "GET /callback?code=REDACTED&state=REDACTED failed"),
        ("see (https://h/a?q=hunter2), https://h/b#hunter2.", "see (https://h/a?q=REDACTED), https://h/b."),
        ("https://h/a?hunter2 x", "https://h/a?REDACTED x"),
        (
            "UserInfo={NSErrorFailingURLStringKey=https://h/a?t=hunter2, NSErrorFailingURLKey=https://h/a}",
            "UserInfo={NSErrorFailingURLStringKey=https://h/a?t=REDACTED, NSErrorFailingURLKey=https://h/a}"
        ),
        ("sent code=hunter2 and grant_type=authorization_code", "sent code=REDACTED and grant_type=authorization_code"),
        ("exit code=7, what? a=b", "exit code=7, what? a=b"),
    ])
    func messageKeepsItsHarmlessParts(text: String, expected: String) {
        #expect(redaction.message(text) == expected)
    }

    /// The text before the secret has every length at which the limit may cut the secret.
    @Test(arguments: [
        "https://hunter2hunter2hunter2@host/", "https://hun'hunter2hunter2@host/", "Bearer hunter2hunter2",
    ])
    func messageCutWithinASecretKeepsNothingOfTheSecret(secret: String) {
        for length in (MartletLimits.messageLength - secret.utf8.count)...MartletLimits.messageLength {
            let message = redaction.message(String(repeating: "x", count: length - 1) + " " + secret)
            #expect(message.contains("hunter") == false)
            #expect(message.utf8.count <= MartletLimits.messageLength)
        }
    }

    // MARK: - Header fields

    @Test func headerFieldsKeepTheirNamesAndTheirOrder() {
        let fields = [
            ("Content-Type", "text/plain"), ("AUTHORIZATION", "hunter2"), ("Set-Cookie", "a=hunter2"),
            ("set-cookie", "b=hunter2"), ("X-Api-Key", "hunter2"), ("x-auth-token", "hunter2"),
            ("X-Amz-Signature", "hunter2"), ("WWW-Authenticate", "Digest nonce=hunter2"), ("Card-Number", "hunter2"),
            ("Location", "https://ada:hunter2@host/a?code=hunter2"), ("referer", "https://host/?q=hunter2"),
            ("Link", "<https://host/?page=2&token=hunter2>; rel=next"), ("X-Forwarded-Auth", "Bearer hunter2"),
            ("Via", "1.1 proxy"),
        ].map { (name: $0.0, value: $0.1) }
        let redacted = redaction.headers(fields)
        #expect(redacted.map(\.name) == fields.map(\.name))
        #expect(redacted.allSatisfy { !$0.value.contains("hunter2") })
        #expect(redacted.first?.value == "text/plain")
        #expect(redacted.last?.value == "1.1 proxy")
        #expect(redacted[9].value == "https://REDACTED:REDACTED@host/a?code=REDACTED")
    }

    // MARK: - Bodies

    @Test(arguments: [
        (#"{"password": "hunter2", "user": "ada"}"#, #"{"password": "REDACTED", "user": "ada"}"#),
        (#"{"a":[{"Api-Key":12.5e3},{"b":null}]}"#, #"{"a":[{"Api-Key":"REDACTED"},{"b":null}]}"#),
        (#"{"tokens":["a",{"b":"}"}],"x":true}"#, #"{"tokens":"REDACTED","x":true}"#),
        (#"{"credentials":{"a":{"b":["]"]}},"x":1}"#, #"{"credentials":"REDACTED","x":1}"#),
        (#"{"pass\u0077ord":"hun\"ter2","x":1}"#, #"{"pass\u0077ord":"REDACTED","x":1}"#),
        (#"{"p\u0061ss":"\\","x":1}"#, #"{"p\u0061ss":"REDACTED","x":1}"#),
        (
            #"{"card_number":4111,"ÜBERWEISUNG":"x","pin":true}"#,
            #"{"card_number":"REDACTED","ÜBERWEISUNG":"REDACTED","pin":"REDACTED"}"#
        ),
        (#"{"log":"{\"secret\":\"x\",\"ok\":1}"}"#, #"{"log":"{\"secret\":\"REDACTED\",\"ok\":1}"}"#),
        (#"{"a":"sent Bearer abc.def"}"#, #"{"a":"sent Bearer REDACTED"}"#),
        (#"{"a":"http:\/\/u:p@h\/x"}"#, #"{"a":"http://REDACTED:REDACTED@h/x"}"#),
        (#"{"a":"https://ada:it'shunter2@h/"}"#, #"{"a":"https://REDACTED:REDACTED@h/"}"#),
        (#"{"query":"{ login(password: \"hunter2\") { id } }"}"#, #"{"query":"{ login(password: \"REDACTED\""}"#),
        ("{\"pin\":1}\n{\"pin\":2,\"a\":3}", "{\"pin\":\"REDACTED\"}\n{\"pin\":\"REDACTED\",\"a\":3}"),
        (
            #"[1, "two", {"three": [true, null, -1.5]}, "\u00e9\n"]"#,
            #"[1, "two", {"three": [true, null, -1.5]}, "\u00e9\n"]"#
        ),
        (#"{"grant_type":"x","code":"hunter2"}"#, #"{"grant_type":"x","code":"REDACTED"}"#),
        (#"{"code":"hunter2","grantType":"x"}"#, #"{"code":"REDACTED","grantType":"x"}"#),
        (#"{"code":404,"next":"/a?page=2"}"#, #"{"code":404,"next":"/a?page=REDACTED"}"#),
        (#"{"db":"Server=h;Password=my hunter2;Port=1"}"#, #"{"db":"Server=h;Password=REDACTED;Port=1"}"#),
    ])
    func jsonKeepsItsShapeAndWhatIsNoSecret(text: String, expected: String) {
        #expect(body(text) == expected)
        #expect(body(text, "application/problem+json; charset=\"UTF-8\"") == expected)
    }

    @Test(arguments: [
        #"{"password":hunter2, hunter2"#, #"{password:"hunter2"}"#, #"{'password':'hunter2'}"#,
        #"{"password":'hun"hunter2'}"#, #"{"password":[[{"hunter2":"#, #"password=hunter2&x=1"#,
        #"{"password":"hun\"hunter2"#,
        "{\"password\"\n:\n\"hunter2\"}", #"{"Bearer hunter2":1}"#, #"{"a":"\"{\\\"secret\\\":\\\"hunter2\\\"}\""}"#,
        "\u{feff}{\"password\":\"hunter2\"}", ")]}',\n{\"password\":\"hunter2\"}",
    ])
    func whatIsNoRightJSONKeepsNoSecretEither(text: String) {
        #expect(body(text)?.contains("hunter2") == false)
    }

    @Test(arguments: [(4, "[1]"), (5, "REDACTED")]) func jsonIsReadInUpToFourNestedStrings(
        strings: Int, innermost: String
    ) throws {
        func nested(_ text: String) throws -> String {
            try (0..<strings).reduce(text) { text, _ in
                String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
            }
        }
        #expect(body(try nested("[1]")) == (try nested(innermost)))
    }

    @Test(arguments: [
        ("a=1&password=hunter2&b=2", "a=1&password=REDACTED&b=2"),
        ("p%61ssword=hunter2%20x&b=+", "p%61ssword=REDACTED&b=+"),
        ("user[secret]=hunter2", "user[secret]=REDACTED"),
        ("code=hunter2&grant_type=authorization_code", "code=REDACTED&grant_type=authorization_code"),
        ("grant_type=x&c%6Fde=hun'hunter2", "grant_type=x&c%6Fde=REDACTED"),
        ("code=1234&country=NZ", "code=1234&country=NZ"),
        ("payload=%7B%22password%22%3A%22hunter2%22%7D&b", "payload=%7B%22password%22%3A%22REDACTED%22%7D&b"),
        (#"payload={"password":"a&hunter2"}"#, #"payload={"password":"REDACTED"}"#),
        ("next=https%3A%2F%2Fu%3Ahunter2%40h", "next=https%3A%2F%2FREDACTED%3AREDACTED%40h"),
        (#"{"password":"hunter2"}"#, #"{"password":"REDACTED"}"#),
    ])
    func formKeepsItsNamesAndItsHarmlessValues(text: String, expected: String) {
        #expect(body(text, "application/x-www-form-urlencoded") == expected)
    }

    @Test(arguments: [
        ("<a><Password>hunter2</Password><b>1</b></a>", "<a><Password>REDACTED</Password><b>1</b></a>"),
        ("<w:Password Type=\"hunter2\"\n>hun<b>ter</b>2</w:Password>", "<w:Password>REDACTED</w:Password>"),
        ("<token><token>a</token>hunter2</token><b/>", "<token>REDACTED</token><b/>"),
        ("<token a=\"hunter2\"/><b>1</b>", "<token/><b>1</b>"),
        ("<input name=\"csrf_token\" value=\"hunter2\"><b>1</b>", "<input REDACTED><b>1</b>"),
        ("<input value=\"a>hunter2\" name=\"password\"><b>1</b>", "<input REDACTED><b>1</b>"),
        ("<input value = 'a>hunter2' name='password'><b>1</b>", "<input REDACTED><b>1</b>"),
        ("<token a=\">hunter2\"/><b>1</b>", "<token/><b>1</b>"),
        ("<a title=\"x\">it's \"1\"</a><b>1</b>", "<a title=\"x\">it's \"1\"</a><b>1</b>"),
        ("<p key=\"password\">hunter2</p>", "<p REDACTED>REDACTED</p>"),
        ("<h>5\"</h><password>hun\"ter2hunter2</password>", "<h>5\"</h><password>REDACTED</password>"),
        ("1 < 2 <b>bold</b>", "1 < 2 <b>bold</b>"),
    ])
    func elementsKeepTheirNamesAndTheirHarmlessValues(text: String, expected: String) {
        #expect(body(text, "application/soap+xml") == expected)
    }

    @Test(arguments: [
        ("password=hunter2 user=ada", "password=REDACTED user=ada"),
        ("Cookie: a=hunter2; b=hunter2\r\nHost: x", "Cookie: REDACTED\r\nHost: x"),
        ("API key: hunter2\nb", "API key: REDACTED\nb"),
        ("my pin: hunter2\nb", "my pin: REDACTED\nb"),
        ("Password:\n  hunter2\nb", "Password:\n  REDACTED\nb"),
        ("secret := \"hun ter2\" hunter2", "secret := \"REDACTED\""),
        ("'token' => 'hunter2', 'b' => 1", "'token' => 'REDACTED', 'b' => 1"),
        (#"x = {\"secret\":\"hun\\\"hunter2\",\"b\":1}"#, #"x = {\"secret\":\"REDACTED\",\"b\":1}"#),
        ("sent bearer hunter2, then", "sent bearer REDACTED, then"),
        ("Basic aHVudGVyMg==", "Basic REDACTED"),
        ("bearer token: hunter2", "bearer REDACTED"),
        ("id eyJhbGciOiJIUzI1NiJ9.e30.hunter2 b", "id REDACTED b"),
        ("redis://:hunter2@host:6379/0", "redis://REDACTED:REDACTED@host:6379/0"),
        ("u 'http:\\/\\/u:hunter2@h'", "u 'http:\\/\\/REDACTED:REDACTED@h'"),
        ("http://ada:hun/hunter2@host b", "http://REDACTED b"),
        ("at https://ada:it'shunter2@host/ b", "at https://REDACTED:REDACTED@host/ b"),
        ("https://it'shunter2@host/ b", "https://REDACTED:REDACTED@host/ b"),
        ("http://ada:it's/hunter'2@host b", "http://REDACTED b"),
        (
            "'http://ada:hunter2@host:80' and 'http://host:81','b'",
            "'http://REDACTED:REDACTED@host:80' and 'http://host:81','b'"
        ),
        ("-----BEGIN KEY-----\nhunter2\n-----END KEY-----\nb", "REDACTED\nb"),
        ("nothing secret: at all, is it?", "nothing secret: REDACTED"),
        ("plain words, 5\" and {braces}", "plain words, 5\" and {braces}"),
    ])
    func textKeepsItsHarmlessParts(text: String, expected: String) {
        #expect(body(text, "text/plain") == expected)
    }

    @Test(arguments: [
        "see https://ada:hunter2", "see https://it'shunter2", "{\"a\":\"see https://ada:hunter2", "a eyJhbGci",
        "Authorization: Bearer hunter2",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2", "<password>hunter2", "<password><b>hunter2",
        "<input name=\"pin\" value=\"hunter2", "<input value=\"hunter2", "<input value=\"a>hunter2",
    ])
    func textTruncatedWithinASecretKeepsNothingOfTheSecret(text: String) {
        let redacted = body(text, "text/html", isTruncated: true)
        #expect(redacted?.contains("hunter2") == false)
        #expect(redacted?.contains("eyJ") == false)
    }

    @Test(arguments: [
        nil, "", "image/png", "application/octet-stream", "multipart/form-data; boundary=x", "text/csv", "text/yaml",
        "text/x-csv", "text/comma-separated-values", "text/x-tab-separated-values", "text/tsv", "text/vnd.yaml",
        "text/x-yml", "text/plain; charset=utf-16", "application/json; Charset=\"utf-7\"",
    ])
    func bodiesThatAreNotReadableTextAreLeftOut(contentType: String?) {
        #expect(redaction.body(Array("a".utf8), contentType: contentType, isTruncated: false) == nil)
    }

    @Test func textWithZerosInItIsLeftOut() {
        let wide: [UInt8] = Array("{\"password\":\"hunter2\"}".utf8).flatMap { byte -> [UInt8] in [byte, 0] }
        #expect(redaction.body(wide, contentType: "application/json", isTruncated: false) == nil)
    }

    @Test func invalidUTF8IsReplacedAndATruncatedCharacterIsLeftOut() {
        let bytes = Array("caf\u{e9}".utf8)
        #expect(redaction.body(bytes.dropLast(), contentType: "text/plain", isTruncated: true) == "caf")
        #expect(redaction.body(bytes.dropLast(), contentType: "text/plain", isTruncated: false) == "caf\u{fffd}")
        #expect(redaction.body(bytes, contentType: "text/plain", isTruncated: true) == "caf\u{e9}")
        #expect(redaction.body([0xff, 0x61], contentType: "text/plain", isTruncated: true) == "\u{fffd}a")
    }

    /// Six characters of a secret are enough to reveal it.
    @Test(arguments: 1...9 as ClosedRange<UInt64>)
    func noPartOfASecretRemainsWhereverJSONIsTruncated(seed: UInt64) {
        let json = SecretJSON(seed: seed)
        let bytes = Array(json.text.utf8)
        for length in 0...bytes.count {
            for type in ["application/json", "text/plain"] {
                let kept = redaction.body(bytes[..<length], contentType: type, isTruncated: length < bytes.count) ?? ""
                let leak = json.pieces.first { kept.utf8.firstRange(of: $0.utf8) != nil }
                #expect(leak == nil, "\(kept) of \(json.text.prefix(length))")
            }
        }
    }
}
