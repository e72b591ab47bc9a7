/// What stored text is made of: on disk, never change.
///
/// The code of a symbol is its place in this list, from zero. The list was made from English
/// prose and from names, addresses, dates and identifiers as programs have them, by taking what
/// shortens them most.
enum TextSymbols {
    static let all: [Substring] = list.split(separator: "|")

    private static let list = """
         |  | a| and | co| d| for | in| o| p| s| t| the | to |\"|,|, |-|- |--|-0|.|.com|.com/|\
        .jpg|.org|.png|/|0|00|000|08|1|10|11|12|13|14|15|16|17|18|19|2|20|202|22|24|3|36|37|4|\
        42|5|52|53|54|55|56|59|6|7|8|9|:|: |: \"|:00|@|A|B|C|Co|D|E|Europe/|F|G|H|I|J|K|L|M|N|O|\
        P|R|S|T|U|V|W|_|a|a |able|ac|ad|age|al|am|an|and |ar|as|at|ate|ation|ation |b|ba|be|c|\
        ca|can |ce|ce |ces|ch|co|code|com|ct|d|d |da|de|der|ding|e|e |ec|ed |en|er|er |es|f|fa|\
        fe|fi|files|for |form|g|ge|h|he|hi|http://|https://|i|ic|ight|il|im|image/|in|in |ing|\
        ing |is |it|it |ive|j|k|ke|l|l |la|le|le |li|ll|lo|m|ma|me|ment|mi|n|n |name|nd|ne|ng|\
        ng |nt|o|on|oo|or|ou|p|pa|pe|pl|po|pro|q|r|r |ra|re|res|ri|ro|rt|ry |s|s |s a|se|sion|\
        son|st|str|t|t |ta|te|ter|th|the |ti|tion|tion |to|to |tr|u|ue|ul|um|un|ur|us|user|ut|v|\
        value|ve|ver|vi|w|wi|with |www.|x|y|y |you |z
        """
}
