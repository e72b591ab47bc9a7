/// What the names of properties are made of in stored shapes: on disk, never change.
///
/// Both lists were made from the properties that programs and their interfaces have, by taking
/// what shortens their names most.
enum NameSymbols {
    /// The code of each is one byte: its place, from zero.
    static let short: [Substring] = shortList.split(separator: " ")

    /// The code of each is two bytes, 0xf8 << 8 plus twice its place; one more stands for the
    /// word with a capital letter.
    static let words: [Substring] = wordList.split(separator: " ")

    private static let shortList = """
        0 1 2 3 4 5 6 7 8 9 A At B By C Co Code Count D Date E F G H I ID IDs Id Ids J K Key L \
        M N Name O P Q R Re S Size T Time Type U URL Url V W X Y Z _ a able ac ad ain al ali \
        all am an ar as at ate ation b be bi bl body c ca can ce ces ch ck co code com con cont \
        count ct ction d data date de di ding e ec ed el em email en end ent er ers es et ex f \
        fi file first form g ge gra h handl has he i ic id il in index ing int is it items j k \
        key kind l la last le level li lo ly m ma me ment mi mp n name nc nd ne ng ni no note \
        ns nt number o od ol om on or order ou p pa page par path pe per pl po pp pre price pro \
        pt q que r ra re rec res ri ro s se ser si size so sp ss st start state status str su t \
        ta tag tags te ted ter text th ti time ting tion title to total tr tra ts tt type u ul \
        um un ure url us user ut v value ve ver vi w wi x y z
        """

    private static let wordList = """
        absolute access account accuracy achievements action active actual additional address \
        addresses admin administrator aggregate airline airport alarm album alert algorithm \
        algorithms alias alignas alignment alignof allocation allow allows altitude amount \
        anchor angle annotation answer answers append appointment appointments architecture \
        archived arenas argument arguments array arrival article articles artist ascii asset \
        assignee associated async attachments attack attempts attendees attribute attributes \
        audience audio author authority auto availability available avatar average back \
        background badge badges balance bandwidth bank barcode base baseline battery begin \
        behaviour benchmark billing binary birth birthday bits block book booking bookings \
        bookmark bookmarks books bool boolean bottom bounds bracket branch brand buffer \
        buffered build builder bundle byte bytes calendar callback callbacks calories campaign \
        cancellable cancelled capacity caption cart cast categories category certificate change \
        channel chapter chapters characters charging check checksum child children choices city \
        claim class clear client close closed cluster coding coins collection color colour \
        column columns command comment comments company compatible compiler complete completed \
        completion component components compressed compression concept concurrency concurrent \
        condition conditions config configuration conflict conflicts connect connection \
        constraint constraints contact contacts container content contents context continuation \
        continuations continue contract control cooking coordinate coordinates copy correct \
        correlation cost country counts county course created creation creator currency current \
        currently cursor custom customer dark database dates deadline dealloc debug decode \
        decoded decoder default defaults defense degrees delay delegate delete deleted \
        delimited delivery demand department departure dependencies dependency deposit depth \
        description descriptions desired destination details deterministic device diagnostic \
        diagnostics dictionary difficulty digit directory disabled discount disk display \
        distance doctor documentation domain done dosage double download downstream draft drink \
        driver duration dynamic edit edition effect element elements emails employee empty \
        enable enabled encoded encoder encoding ended endianness endpoint enforce entry enum \
        environment equal equals error errors escaped estimate event events exchange executable \
        exercise expanded expectation expected experience experimental experiments expires \
        explicit export extended extension extensions extra extraneous failed failure family \
        favorite favourite feature features fetched field fields files filter final finalize \
        finish finished firmware flag flags flight float folder follower followers following \
        font forecast foreground format fractional frame frames frequency friends from front \
        fuel full function future futures gate gems gender generate generated generation \
        generator generators generic genre genres grade group groups guest guid handle handler \
        hash head header headers heading headline health heart height hidden high highlight \
        highlights history homepage hospital host hostname hotel hour http https humidity icon \
        identifier identifiers image images import inbound indentation info ingredients \
        inheritance inherited initial initials inner input insertion install installed \
        instruction instructions insurance integer interest interface internal interval \
        introduced invalid inventory invoice isbn item iterations json keys keyword keywords \
        kibibytes kilograms kilometers label labels language large latency latitude launch \
        layout lazy leading left legacy length lesson lessons license light like likes limit \
        line link links list lives loan local locale location locked logical login logo \
        longitude loop lower machine maintainer maintenance mana manager manufacturer mapping \
        market mask maximum maybe meal mean media median medication member members memory menu \
        message messages metadata meters method metrics middle miles milestones milliseconds \
        mime minimum minute mirror mixins mobile mode model modification modified modifier \
        modifiers module month more multiple multiplexer mutable names namespace nanoseconds \
        negative nested newsletter next nickname notes notification notifications null nullptr \
        numbers nutrition object observation odometer offset online opacity open opened \
        operation operator optimize option optional options ordering orders organization \
        organizer origin original other outbound outer output outstanding override owner pace \
        package packages padding pages parameter parameters params parent participants \
        passenger password paths patient pattern payload payment pending people percent \
        percentage percentiles period permissions person phone photo photos physical picture \
        piece pinned pipeline placeholder platform platforms play played playlist point pointer \
        points policy port portfolio position positive post postal postcode postfix precedence \
        precipitation preferences preferred prefix premium prep prepared presence pressure \
        previous prices primary priority private process product products profile program \
        progress project properties property protected protocol provider province public \
        published publisher quantity query question queue quiz quota radius range ranges rank \
        rate rating ratings read reader readings reason receipt received recipe recipient \
        recipients record recorder recurrence recursive reference references referral referrer \
        refresh region register registered registration registry regular relations relative \
        release remaining reminder reminders remote removal removed repeat replacement replies \
        reply reporting representation request requests required reserved resolution resolver \
        response restaurant result results retain retention retries retry return review reviews \
        revision rewards right role roles room rotation route salary sale salt save scalar \
        scale schedule scheduler scheme school score script search seat second seconds secret \
        section seen segment selected selector semantic sender sensor sensors sent separator \
        sequence sequences sequential serial serialized server servers service services \
        servings session settings severity share shared shares shipping should shows shutdown \
        signal signature single small snapshot songs sort sorted sound source span speed square \
        stack standard started statement statements static station steps stock storage strategy \
        streak stream streaming streams street strength string strings student style subject \
        subscription subscriptions subtitle subtotal suffix summary sunrise sunset supplier \
        support supported symbol sync table tail target targets task tasks teacher team \
        temperature template terminated termination theme thread threads thresholds thumbnail \
        ticket tickets timeout timestamp tint token tokens tolerance topics trace track \
        tracking trailing transaction transactions transport trip types unicode unit unknown \
        unread unsigned updated upgrade upload upper upstream uptime used username uuid valid \
        validation values variable vehicle vehicles vendor venue verification verified version \
        video view views virtual visibility visible volume wallet warehouse warning weight \
        width wind window with withdrawal word workout wrapped write writer written year zero \
        zone
        """
}
