/// Judges the digits of a segment that has letters too. A name has few digits, in known places (`v2`, `oauth2`, `step2`,
/// `eu-west-1`). Codes, dates, addresses and random ids have digits anywhere.
enum NumberedName {
    /// The shortest word that is recognised by its letters. Shorter ones have to be in ``shortWords``.
    private static let shortestWord = 5
    /// The mean surprise of a word's pairs of letters, in half bits: 99 in 100 English words of five letters have less,
    /// and 20 in 100 random texts of that length.
    private static let surprise = 11

    /// Returns whether all numbers of a segment are those of a name.
    static func isName(_ segment: ArraySlice<UInt8>) -> Bool {
        let parts = segment.split(omittingEmptySubsequences: false, whereSeparator: \.isSeparator)
        let hasWord = parts.contains { $0.count > 2 && $0.allSatisfy(\.isASCIILetter) }
        return hasPlainNumbers(parts, in: segment)
            && parts.allSatisfy { hasWord && $0.count <= 2 || NumberedPart($0).isName }
    }

    /// Returns the version that a segment consists of or begins with, up to a separator: `v1beta1`, `v1p2beta3`.
    static func version(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let part = segment.prefix { !$0.isSeparator }
        return NumberedPart(part).isVersion ? part : []
    }

    static func isWord(_ letters: some Collection<UInt8>) -> Bool {
        let letters = letters.map { Int(($0 | 0x20) &- UInt8(ascii: "a")) }
        let sum = zip(letters.dropFirst(), letters).reduce(0) { $0 + LetterPairs.surprise(of: $1.0, after: $1.1) }
        return sum <= surprise * max(0, letters.count - 1)
    }

    /// Returns whether a word may have a number behind it, as in `step2`.
    static func isNumberedWord(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.dropFirst().allSatisfy(\.isLower) else { return false }
        return word.count >= shortestWord
            ? isWord(word) : shortWords.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    // MARK: - Numbers between separators

    /// Returns whether a segment has no date, address or long number between its separators.
    private static func hasPlainNumbers(_ parts: [ArraySlice<UInt8>], in segment: ArraySlice<UInt8>) -> Bool {
        var index = 0
        while index < parts.count {
            let numbers = parts[index...].prefix { !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }
            let word = index > 0 ? parts[index - 1] : []
            guard numbers.isEmpty || isPlain(numbers, after: word, in: segment) else { return false }
            index += numbers.count + 1
        }
        return true
    }

    /// Returns whether neighbouring numbers are those of a name: one of up to two digits, a year, that of a term
    /// (`sha-256`), two of up to two digits, or a version (`4.17.21`).
    private static func isPlain(
        _ numbers: ArraySlice<ArraySlice<UInt8>>, after word: ArraySlice<UInt8>, in segment: ArraySlice<UInt8>
    ) -> Bool {
        let longest = numbers.map(\.count).max() ?? 0
        if let number = numbers.first, numbers.count == 1 {
            return longest <= 2 || isYear(number) || termsByNumber[Array(number)]?.contains { $0.isWhole(word) } == true
        }
        let isDotted = numbers.dropFirst().allSatisfy { segment[$0.startIndex - 1] == UInt8(ascii: ".") }
        return isDotted ? numbers.count <= 3 && longest <= 3 : numbers.count == 2 && longest <= 2
    }

    /// Returns whether a number is a year from 1990 to 2039: few enough, so that ids of four digits seldom pass.
    private static func isYear(_ number: ArraySlice<UInt8>) -> Bool {
        number.count == 4 && ["199", "200", "201", "202", "203"].contains { number.starts(with: $0.utf8) }
    }

    // MARK: - Tables

    /// A term with one number, in lower case: the letters before it, and those behind it.
    struct Term: Sendable {
        let before: [UInt8]
        let after: [UInt8]

        fileprivate func isWhole(_ word: ArraySlice<UInt8>) -> Bool {
            after.isEmpty && word.lazy.map { $0 | 0x20 }.elementsEqual(before)
        }
    }

    /// The terms of ``terms`` by their numbers.
    static let termsByNumber: [[UInt8]: [Term]] = {
        var found: [[UInt8]: [Term]] = [:]
        for term in terms.map({ Array($0.utf8) }) {
            let before = Array(term.prefix { !$0.isASCIIDigit })
            let number = Array(term.dropFirst(before.count).prefix(while: \.isASCIIDigit))
            found[number, default: []].append(
                Term(before: before, after: Array(term.dropFirst(before.count + number.count))))
        }
        return found
    }()

    /// The letters before a number of a version: `v1beta2`, `v1p3`, `rc1`, `py3`.
    static let stages: Set = ["v", "alpha", "beta", "rc", "pre", "preview", "dev", "py", "cp", "a", "b", "p", "m"]

    /// Terms that have a digit among or behind their letters, in lower case.
    static let terms = words(
        """
        a11y a2a ads360 aes128 aes256 amd64 argon2 arm64 as2 as4 auth0 aws4 b2b b2c base16 base32 base36 base58
        base62 base64 bm25 bz2 c14n c2c crc32 css3 d2c db2 e164 e2e ec2 ed25519 es256 es512 fido2 g11n ga4 gcm256 gpt3
        gpt4 gpt4o h264 h265 hl7 hs256 hs384 hs512 html5 http2 http3 i18n i2c i386 i686 id3 ikev2 imap4 ipv4 ipv6
        iso3166 iso639 iso8601 json5 k3s k6 k8s l10n l2tp latin1 log4j lz4 m2m m4a m4v md4 md5 mp2 mp3 mp4 mpeg4
        n8n nat64 neo4j net6 net8 oauth1 oauth2 office365 p12 p2p p2pkh p2sh p7b pbkdf2 pkcs1 pkcs11 pkcs12 pkcs7
        pkcs8 pop3 ps256 py2 py3 r2dbc r4b rs256 rs384 rs512 route53 rss2 s2s s3 saml1 saml2
        sha1 sha2 sha224 sha256 sha3 sha384 sha512 smb2 smb3 socks4 socks5 sqlite3 stu3 u2f uint8 utf16 utf32
        utf7 utf8 uuid4 uuid7 v4l video360 vp8 vp9 w3c web2 web3 wgs84 win32 win64 x11 x25519 x264 x265 x32 x509 x64
        x86 y2k zip64
        1password 2captcha 2checkout 2d 2fa 3d 3ds 3gp 4k 4o 4xx 5xx 5g 7z 7zip 8k 24h 30d 7d 90d 1st 2nd 3rd
        """)

    /// Words of two to four letters that interfaces number: `step2`, `db1`.
    static let shortWords = Set(
        words(
            """
            addr api app apps area arg axis band bank bar base beta bin bit blob blog book boot bot box bulk byte cam
            car card case cell chat city code col core cpu css data date day days db demo dev dim dir disk dns doc docs east
            edge env file flow foo form game gate geo git gpu grid hash hex home host hour hub icon id img item java
            job join key lab lane leg line link list lock log logs loop main map mem menu mode mon move name nav net
            node note num open org page pair part pass path peer pin plan plot pod poll pool port post prod pub quiz
            race rack rank rate raw read ref repl role room root row rule run seat seed set site size slot sort spec
            stat step stg sub sum svc tab tag task team temp term test text tier time tip tmp todo tool top tree type
            unit uri url user var vec view vip vlan vm vol vote vpc wave web week west wiki work xml year zip zone
            """))

    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}

/// A part of a segment, between separators.
private struct NumberedPart {
    private let part: ArraySlice<UInt8>

    init(_ part: ArraySlice<UInt8>) {
        self.part = part
    }

    /// A number with the letters on its sides, up to the part's neighbouring numbers.
    private struct Number {
        let before: ArraySlice<UInt8>
        let digits: ArraySlice<UInt8>
        let after: ArraySlice<UInt8>
        /// Whether the part begins with ``before``.
        let isFirst: Bool

        /// The last word in camel case before the number: `Route` of `associatedRoute53`.
        var word: ArraySlice<UInt8> {
            guard let capital = before.lastIndex(where: { !$0.isLower }), capital > before.startIndex,
                before[capital - 1].isLower
            else { return before }
            return before[capital...]
        }

        var stage: String { String(decoding: before, as: UTF8.self).lowercased() }
    }

    private var numbers: [Number] {
        var (found, start): ([Number], Int) = ([], part.startIndex)
        while let first = part[start...].firstIndex(where: \.isASCIIDigit) {
            let digits = part[first...].prefix(while: \.isASCIIDigit)
            found.append(
                Number(
                    before: part[start..<first], digits: digits,
                    after: part[digits.endIndex...].prefix(while: \.isASCIILetter), isFirst: start == part.startIndex))
            start = digits.endIndex
        }
        return found
    }

    /// Whether the part is `v` and a number, then only stages with numbers.
    var isVersion: Bool {
        isVersionFirst && numbers.allSatisfy { NumberedName.stages.contains($0.stage) && isEndOfVersion($0.after) }
    }

    private var isVersionFirst: Bool {
        part.first.map { $0 | 0x20 } == UInt8(ascii: "v") && part.dropFirst().first?.isASCIIDigit == true
    }

    private func isEndOfVersion(_ letters: ArraySlice<UInt8>) -> Bool {
        letters.count <= 1 || NumberedName.stages.contains(String(decoding: letters, as: UTF8.self).lowercased())
    }

    /// Whether the part's numbers are those of a name. A part without letters or without digits has none to judge.
    var isName: Bool {
        guard let first = part.firstIndex(where: \.isASCIIDigit), part.contains(where: \.isASCIILetter) else {
            return true
        }
        // `q1`, `p12`, `rc5`
        if part.count <= 3, first > part.startIndex, part[first...].allSatisfy(\.isASCIIDigit) { return true }
        return numbers.allSatisfy { isOfVersion($0) || isOfTerm($0) || isOfWord($0) }
    }

    /// `v1`, `v1beta2`, `rc12`, `v2Config`, `findingsv2`, `productsV2`
    private func isOfVersion(_ number: Number) -> Bool {
        let stage = number.stage
        if NumberedName.stages.contains(stage), isVersionFirst || number.isFirst && stage.count > 1 {
            return number.digits.count <= (stage == "v" ? 8 : 3)
                && (isEndOfVersion(number.after) || isBoundary(number.after, shortest: 3))
        }
        guard stage.last == "v", number.digits.count <= 2, isBoundary(number.after, shortest: .max) else {
            return false
        }
        let word = number.before.dropLast()
        let isCamelCase = number.before.last == UInt8(ascii: "V") && word.last?.isLower != false
        return isCamelCase || stage.count > 3 && NumberedName.isWord(word)
    }

    /// `oauth2`, `k8s`, `GetS3Table`, `ec2status`
    private func isOfTerm(_ number: Number) -> Bool {
        let (before, after) = (number.before.map { $0 | 0x20 }, number.after.map { $0 | 0x20 })
        return NumberedName.termsByNumber[Array(number.digits)]?.contains { term in
            guard before.suffix(term.before.count).elementsEqual(term.before), after.starts(with: term.after) else {
                return false
            }
            let rest = number.before.dropLast(term.before.count)
            return (rest.isEmpty || number.before[rest.endIndex...].first?.isLower == false)
                && isBoundary(number.after.dropFirst(term.after.count), shortest: 3)
        } == true
    }

    /// `step2`, `Route53HealthChecks`
    private func isOfWord(_ number: Number) -> Bool {
        number.digits.count <= 2 && number.word.contains(where: \.isLower) && NumberedName.isNumberedWord(number.word)
            && isBoundary(number.after, shortest: 4)
    }

    /// Returns whether a name may go on with these letters behind a number: none, a version, a word in camel case, or a
    /// word of at least so many letters.
    private func isBoundary(_ letters: ArraySlice<UInt8>, shortest: Int) -> Bool {
        guard let first = letters.first else { return true }
        if first.isLower { return letters.count >= shortest && NumberedName.isWord(letters.prefix(while: \.isLower)) }
        let word = letters.dropFirst().prefix(while: \.isLower)
        return word.count >= 2 || letters.elementsEqual("V".utf8)
    }
}
