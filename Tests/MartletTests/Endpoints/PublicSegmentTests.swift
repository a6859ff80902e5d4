import Testing

@testable import Martlet

/// Path segments of public interfaces. For each, the tests state the segment in the endpoint's name, and the part that
/// kept details have.
@Suite struct PublicSegmentTests {
    @Test func segmentsOfChatAndSocialNetworks() {
        expectNames([
            "me", "@me", "sendMessage", "getUpdates", "chat.postMessage", "conversations.history", "channels",
            "m.room.message", "statuses", "com.atproto.repo.createRecord", "v1.0",
        ])
        expectValues([
            "@janedoe", "@jane@example.social", "bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "C024BE91L",
            "T0G9PQBBK", "D0LAN2Q65", "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy", "80351110224678912",
            "%F0%9F%91%8D", "%40jane%3Aexample.org", "!OGEhHVWSdvArJzumhm:matrix.org", "$YUwRidLecu:example.com",
            "%23general", "1212092628029698048", "~janedoe", "did:plc:z72i7hdynmk6r22z27h6tvur", "+4915112345678",
            "jane.doe@example.com", "dQw4w9WgXcQ", "UCsT0YIqwnpJCM-mx7-gSA4Q", "PLBCF2DAC6FFB574DE",
        ])
    }

    @Test func segmentsOfPayments() {
        expectNames([
            "payment_intents", "checkout", "balance_transactions", "tok_visa", "paymentMethods", "refunds", "EUR",
            "EURUSD",
        ])
        expectValues([
            "cus_9s6XKzkNRiz8i3", "ch_3MmlLrLkdIwHu7ix0snN0B15",
            "pi_3MtwBwLkdIwHu7ix28a3tqPa_secret_YrKJUKribcBjcG8HVhfZluoGH", "in_1MtHbELkdIwHu7ixl4OzzPMv",
            "WH-58D329510W468432D-8HN650336L201105X", "8AC7A4A17C9F3B2D017C9F4E5A6B1C2D", "I-BW452GLLEP1G",
            "DE89370400440532013000", "4111111111111111", "sub_sched_1Mr3YcLkdIwHu7ixYCFhXHNb",
            "PAYID-L5XYJUQ5W340275XV8634532", "39.95",
        ])
    }

    @Test func segmentsOfObjectStoresAndClouds() {
        expectNames([
            "my-bucket", "photos", "eu-west-1", "us-central1-a", "functions", "invocations", "subscriptions",
            "resourceGroups", "Microsoft.Compute", "virtualMachines", "messages:batchGet", "topics:publish",
            "my-topic:publish", "gemini-1.5-pro:generateContent", "text-bison:predict", "gpt-4o-mini", "projects",
            "locations", "index.html", "logo.svg",
        ])
        expectValues([
            "2024-05-17T10%3A12%3A00Z.jpg", "report%20final.pdf", "AKIAJ7Q2XKZP4M3WTBVR", "arn:aws:s3:::bucket",
            "arn%3Aaws%3Alambda%3Aeu-west-1%3A123456789012%3Afunction%3Aresize", "i-1234567890abcdef0",
            "vpc-0a1b2c3d4e5f67890", "2015-03-31", "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPBdG",
            "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi", "key=value", "a,b,c",
            ";jsessionid=5AC6268DD8D4D5D1FDF5D41E9F2FD960",
        ])
        #expect(endpoint("IMG_20240517_101200.jpg") == "{id}.jpg")
        #expect(endpoint("4711:cancel") == "{id}:cancel")
        #expect(endpoint("507f1f77bcf86cd799439011:undelete") == "{id}:undelete")
        #expect(endpoint("app.3f2a9c1b.js") == "{id}.js")
    }

    @Test func segmentsOfPackageRegistriesAndForges() {
        expectNames([
            "lodash", "left-pad", "swift-nio", "v2.101.2", "1.0.0-beta.3", "apple", "tags", "main", "pulls",
            "manifests", "latest", "simple", "requests-2.31.0-py3-none-any.whl", "dl_v3", "archive.tar.gz",
            "actions", "workflows",
        ])
        expectValues([
            "@angular", "@types%2Fnode", "lodash@4.17.21", "libstdc++", "2.101.2", "refs%2Fheads%2Fmain",
            "7b2d9f1c4e8a6b3d5f7091a2b3c4d5e6f7a8b9c0", "9fceb02",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "npm_Ks83jxLMbnq0wTzR5vYcUe1hG7pFd2",
            "glpat-XyZ12aBcDeFgHiJkLmNo", "PROJ-1234", "ENG-7",
        ])
    }

    @Test func segmentsOfMapsAndTransport() {
        expectNames([
            "geocoding", "mapbox.places", "driving-traffic", "tiles", "EDDF", "Berlin", "en-US", "de_DE",
        ])
        expectValues([
            "LH441", "52.5200,13.4050", "-122.42,37.78", "-122.42,37.78;-77.03,38.91", "u4pruydqqvj", "9q8yyk8ytpxr",
            "ChIJN1t_tDeuEmsRUsoyG83frY4", "8FVC9G8F+6X", "14", "8621@2x.png", "N%C3%BCrnberg",
        ])
    }

    @Test func segmentsOfMailAndOffice() {
        expectNames([
            "primary", "inbox", "INBOX", "$metadata", "$batch", "$value", "calendarView", "drive", "events",
            "mailFolders", "unsubscribe", "Messages.json",
        ])
        expectValues([
            "17c3b5a8f0e9d2c4", "CAKzY8w%2BTq%40mail.gmail.com", "AAMkAGI2TG93AAA=",
            "AQMkADAwATM0MDAAMS0yMjIyLTMzMwItMDACLTAwCgBGAAAD", "jane%40example.com", "Products(4711)",
            "Customers('ALFKI')", "microsoft.graph.delta()", "root:",
            "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms", "Sheet1!A1:D5",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
            "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",
            "ACa1b2c3d4e5f60718293a4b5c6d7e8f90", "SM1f0e8ae6ade43cb3c0ce4525424e404f",
        ])
    }

    @Test func secretsAndSimilarWords() {
        expectNames([
            "hooks", "reset-password", "confirm-email", ".well-known", "openid-configuration", "oauth2", "token",
            "jwks.json", "bitcoin", "sha256", "utf-8", "base64", "k8s", "i18n", "getUserProfileSettings2",
            "internationalization", "user_42", "report-2024.pdf", "_search", "_doc", "health", "healthz",
            "graphql", "rpc", "wp-json", "wp-admin", "index.php", "xmlrpc.php",
        ])
        expectValues([
            "T00000000", "B00000000", "XXXXXXXXXXXXXXXXXXXXXXXX", "ISBN0451450523", "urn:isbn:0451450523",
            "tt0111161", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
            "0x742d35Cc6634C0532925a3b844Bc454e4438f44e", "order12345",
        ])
    }

    private func endpoint(_ segment: String) -> String {
        String(EndpointNamer().endpoint(ofPath: "/" + segment).dropFirst())
    }

    private func expectNames(_ segments: [String]) {
        for segment in segments {
            #expect(endpoint(segment) == segment)
            expect(segment, isKept: true)
        }
    }

    private func expectValues(_ segments: [String]) {
        for segment in segments {
            #expect(endpoint(segment) == "{id}", "\(segment)")
            expect(segment, isKept: Self.lookedUp.contains(segment))
        }
    }

    /// Numbers by which people look up a request.
    private static let lookedUp = ["80351110224678912", "1212092628029698048", "14"]

    /// Expects a segment to be kept or redacted in a URL, in a URL's path, and in text and JSON that contain a URL.
    private func expect(_ segment: String, isKept: Bool) {
        let redaction = Redaction()
        let (url, path) = ("https://host.example/a/\(segment)/b", "/a/\(segment)/b?c=1")
        let texts =
            [url, path].map(redaction.url) + ["Link", "Location"].map { redaction.header($0, url, limit: 500) }
        let body = redaction.body(
            Array("{\"at\":\"\(url)\"}".utf8), contentType: "application/json", isTruncated: false)
        for text in texts + [redaction.message("not found: \(url)."), body ?? ""] {
            #expect(text.contains("/a/"), "\(text)")
            #expect(text.contains("/a/\(segment)/b") == isKept, "\(text)")
            if !isKept, segment.utf8.count > 3 { #expect(!text.contains(segment.dropFirst().dropLast()), "\(text)") }
        }
    }
}
