package alike

// englishWords are synonyms, and opposites under keys of their own.
//
// A row joins what people use for the same task in support, operations and daily
// life. Words that are only near each other stay apart on purpose: update and
// change, cancel and delete, install and configure, drug and medicine.
var englishWords = []row{
	// Opposites. They are apart without a table too; here they get their reason.
	{polar, "enable", "enable|activate|turn on|switch on|enabling|turned on"}, {polar, "disable", "disable|deactivate|turn off|switch off|turned off"},
	{polar, "off", "off"}, {polar, "up", "up"}, {polar, "down", "down"}, {polar, "out", "out"}, {polar, "away", "away"},
	{polar, "increase", "increase|raise|grow"}, {polar, "decrease", "decrease|reduce|lower|cut down|reduction of"},
	{polar, "allow", "allow|permit|let"}, {polar, "deny", "deny|refuse"}, {polar, "forbid", "forbid|prohibit|ban|forbidden"}, {polar, "block", "block"}, {polar, "unblock", "unblock"},
	{polar, "start", "start|begin|commence|began|begun"}, {polar, "stop", "stop|halt"}, {polar, "end", "end|finish|conclude"}, {polar, "continue", "continue|carry on|keep on"},
	{polar, "min", "min|minimum|minimal|minimize|minimise"}, {polar, "max", "max|maximum|maximal|maximize|maximise"},
	{polar, "buy", "buy|purchase|bought"}, {polar, "sell", "sell|sold"}, {polar, "import", "import"}, {polar, "export", "export"}, {polar, "upload", "upload"}, {polar, "download", "download"},
	{polar, "true", "true"}, {polar, "false", "false"}, {polar, "yes", "yes"}, {polar, "open", "open"}, {polar, "close", "close|shut"}, {polar, "lock", "lock"}, {polar, "unlock", "unlock"},
	{polar, "add", "add|append|added"}, {polar, "delete", "delete|remove|erase|get rid of"}, {polar, "insert", "insert"}, {polar, "encrypt", "encrypt|encryption of"}, {polar, "decrypt", "decrypt"},
	{polar, "install", "install"}, {polar, "uninstall", "uninstall"}, {polar, "mute", "mute"}, {polar, "unmute", "unmute"}, {polar, "accept", "accept"}, {polar, "reject", "reject|decline"},
	{polar, "approve", "approve"}, {polar, "grant", "grant"}, {polar, "revoke", "revoke"}, {polar, "push", "push"}, {polar, "pull", "pull"}, {polar, "send", "send|sent"}, {polar, "receive", "receive|get|obtain|acquire|gotten|obtaining"},
	{polar, "ascending", "ascending"}, {polar, "descending", "descending"}, {polar, "public", "public"}, {polar, "private", "private"}, {polar, "safe", "safe"}, {polar, "dangerous", "dangerous|unsafe|hazardous"},
	{polar, "legal", "legal|lawful"}, {polar, "illegal", "illegal|unlawful|against the law"}, {polar, "left", "left"}, {polar, "right", "right"}, {polar, "hot", "hot"}, {polar, "cold", "cold"},
	{polar, "big", "big|large"}, {polar, "bigger", "bigger|larger|greater"}, {polar, "biggest", "biggest|largest|greatest"}, {polar, "small", "small|little"}, {polar, "smaller", "smaller"}, {polar, "smallest", "smallest"},
	{polar, "fast", "fast|quick|rapid|quickly|rapidly|swiftly"}, {polar, "slow", "slow|slowly|sluggish"}, {polar, "cheap", "cheap|inexpensive"}, {polar, "expensive", "expensive|costly|pricey"},
	{polar, "easy", "easy|simple"}, {polar, "difficult", "difficult|hard|tough"}, {polar, "good", "good"}, {polar, "bad", "bad"}, {polar, "best", "best"}, {polar, "worst", "worst"}, {polar, "better", "better"}, {polar, "worse", "worse"},
	{polar, "pros", "pros|advantages|advantage|benefits|benefit|upsides"}, {polar, "cons", "cons|disadvantages|disadvantage|drawbacks|drawback|downsides"}, {polar, "advantage", "merits"},
	{polar, "fail", "fail|broken|failure"}, {polar, "succeed", "succeed|success"}, {polar, "login", "login|log in|log into|sign in|sign into|log on|logon|signin|logging in|signing in"},
	{polar, "logout", "logout|log out|sign out|log off|sign off|signout"}, {polar, "signup", "signup|sign up|register|create an account|open an account"}, {polar, "subscribe", "subscribe"}, {polar, "unsubscribe", "unsubscribe|opt out"},
	{polar, "deposit", "deposit"}, {polar, "withdraw", "withdraw|take out"}, {polar, "borrow", "borrow"}, {polar, "lend", "lend"}, {polar, "win", "win|won"}, {polar, "lose", "lose|lost"}, {polar, "arrive", "arrive|arrival"}, {polar, "depart", "depart|departure|leave"},
	{polar, "long", "long"}, {polar, "short", "short"}, {polar, "high", "high"}, {polar, "low", "low"}, {polar, "positive", "positive"}, {polar, "negative", "negative"}, {polar, "old", "old"}, {polar, "new", "new"},
	{polar, "read", "read"}, {polar, "write", "write|wrote|written"}, {polar, "show", "show|display"}, {polar, "hide", "hide|hidden"}, {polar, "merge", "merge"}, {polar, "split", "split"}, {polar, "early", "early"}, {polar, "late", "late"},
	{polar, "inbound", "inbound|incoming"}, {polar, "outbound", "outbound|outgoing"}, {polar, "mandatory", "mandatory|compulsory"}, {polar, "optional", "optional"}, {polar, "scale up", "scale up"}, {polar, "scale down", "scale down"},
	// What is done.
	{verb, "change", "change|modify|alter"}, {verb, "fix", "fix|repair|resolve|solve"}, {verb, "make", "make|create|made"}, {verb, "need", "need|require"}, {verb, "help", "help|assist|some help"},
	{verb, "choose", "choose|select|pick|chose|chosen"}, {verb, "locate", "find|locate|look up|found"}, {verb, "search", "search|look for|search for"}, {verb, "check", "check|verify"}, {verb, "reply", "reply|respond|reply to|respond to|answer"},
	{verb, "prevent", "prevent|avoid"}, {verb, "setup", "setup|set up|configure|setting up"}, {verb, "restart", "restart|reboot"}, {verb, "recover", "recover|restore|get back"}, {verb, "reset", "reset"}, {verb, "cancel", "cancel|cancelled|cancelling|cancellation of"},
	{verb, "update", "update"}, {verb, "upgrade", "upgrade"}, {verb, "mean", "mean|meaning|definition|define|meant|stand for"}, {verb, "differ", "difference|differ|differentiate|distinguish|differences|distinction"}, {verb, "use", "use|utilize|utilise|usage"},
	{verb, "happen", "happen|occur|take place"}, {verb, "work", "work|function"}, {verb, "contact", "contact|reach|get in touch with|reach out to|get hold of"}, {verb, "give", "give|provide|gave|given"}, {verb, "keep", "keep|retain|kept"},
	{verb, "convert", "convert|transform|turn"}, {verb, "translate", "translate|translation of"}, {verb, "summarize", "summarize|summarise|sum up|summary of|give a summary of"}, {verb, "explain", "explain|describe"}, {verb, "calculate", "calculate|compute|work out"},
	{verb, "treat", "treat|cure|treatment"}, {verb, "eat", "eat|ate|eaten"}, {verb, "take", "take|took|taken"}, {verb, "learn", "learn|study"}, {verb, "sort", "sort|order by"}, {verb, "list", "list|enumerate"}, {verb, "compare", "compare|comparison of"},
	{verb, "pay", "pay|paid|payment"}, {verb, "transfer", "transfer"}, {verb, "return", "return|give back|send back"}, {verb, "book", "book|reserve|make a reservation for"}, {verb, "apply", "apply|applied"}, {verb, "renew", "renew|renewal of"}, {verb, "track", "track"},
	{verb, "request", "request|ask for"}, {verb, "connect", "connect"}, {verb, "deploy", "deploy|roll out|deployment of"}, {verb, "roll back", "roll back|rollback|revert|undo"}, {verb, "debug", "debug|troubleshoot"}, {verb, "test", "test"}, {verb, "run", "run|execute|ran|running"},
	{verb, "print", "print"}, {verb, "copy", "copy|duplicate"}, {verb, "move", "move|relocate"}, {verb, "rename", "rename"}, {verb, "save", "save"}, {verb, "cook", "cook"}, {verb, "bake", "bake"}, {verb, "clean", "clean"}, {verb, "feed", "feed|fed"}, {verb, "file", "file"}, {verb, "claim", "claim"},
	{verb, "break", "break|broke"}, {verb, "build", "build|built"}, {verb, "go", "go|went|gone|travel"}, {verb, "see", "see|saw|seen|view"}, {verb, "store", "store|stored"}, {verb, "freeze", "freeze|froze|frozen"}, {verb, "forget", "forget|forgot|forgotten"},
	{verb, "switch", "switch"},
	// Things and qualities.
	{noun, "issue", "issue|problem|trouble"}, {noun, "child", "child|kid|children"}, {noun, "person", "person|people|persons"}, {noun, "man", "man|men"}, {noun, "woman", "woman|women"}, {noun, "mother", "mother|mom|mum"}, {noun, "father", "father|dad"},
	{noun, "doctor", "doctor|physician"}, {noun, "medicine", "medicine|medication"}, {noun, "illness", "illness|disease|sickness"}, {noun, "symptom", "symptom|signs|sign"}, {noun, "car", "car|automobile"}, {noun, "phone", "phone|telephone"}, {noun, "mobile", "mobile phone|cell phone|cellphone|smartphone|mobile"},
	{noun, "photo", "photo|picture|image|pic|photograph"}, {noun, "film", "film|movie"}, {noun, "salary", "salary|wage|pay check|paycheck"}, {noun, "vacation", "vacation|holiday"}, {noun, "apartment", "apartment|flat"}, {noun, "elevator", "elevator|lift"}, {noun, "lawyer", "lawyer|attorney"},
	{noun, "company", "company|firm"}, {noun, "folder", "folder|directory"}, {noun, "repository", "repository|repo"}, {noun, "database", "database|db"}, {noun, "config", "config|configuration"}, {noun, "environment", "environment|env"}, {noun, "variable", "variable|var"},
	{noun, "parameter", "parameter|param"}, {noun, "application", "application|app"}, {noun, "computer", "computer|pc"}, {noun, "documentation", "documentation|docs"}, {noun, "information", "information|info|details|some information|some info"}, {noun, "tv", "tv|television"}, {noun, "email", "email|e mail|mail"},
	{noun, "website", "website|site|web site|webpage|web page"}, {noun, "wifi", "wifi|wi fi|wireless"}, {noun, "refund", "refund|money back|my money back"}, {noun, "invoice", "invoice|bill"}, {noun, "type", "type|kind"}, {noun, "near", "near|close to|nearby|next to"}, {noun, "hours", "opening hours|business hours|hours of operation|opening times"},
	{noun, "address", "address"}, {noun, "backup", "backup|back up"}, {noun, "garbage", "garbage|trash|rubbish"}, {noun, "gasoline", "gasoline|petrol|gas"}, {noun, "subway", "subway|metro|underground"}, {noun, "fridge", "fridge|refrigerator"}, {noun, "author", "author|writer|who wrote"}, {noun, "capital", "capital|capital city"},
	{noun, "population", "population|how many people live in|how many inhabitants|number of inhabitants|number of people living in"}, {noun, "weather", "weather"}, {noun, "method", "method|approach|way"}, {noun, "example", "example|sample|some examples"}, {noun, "tip", "tip|some tips"}, {noun, "advice", "advice|some advice"}, {noun, "idea", "idea|some ideas"}, {noun, "important", "important|essential|crucial"},
	{noun, "news", "news"}, {noun, "customs", "customs"}, {noun, "goods", "goods"}, {noun, "glasses", "glasses"}, {noun, "arms", "arms"}, {noun, "savings", "savings"}, {noun, "clothes", "clothes|clothing"}, {noun, "species", "species"}, {noun, "series", "series"}, {noun, "need", "needs"}, {noun, "interest", "interest"},
	{noun, "building", "building"}, {noun, "meeting", "meeting"}, {noun, "evening", "evening"}, {noun, "morning", "morning"}, {noun, "string", "string"}, {noun, "parking", "parking"}, {noun, "hosting", "hosting"}, {noun, "thing", "thing"}, {noun, "used", "used"}, {noun, "seed", "seed"}, {noun, "speed", "speed"},
}

// shared are units and currencies, which all languages write alike.
var shared = []row{
	{unit, "kg", "kg|kilo|kilogram|kilogramme|kgs|kilos|kilograms"}, {unit, "g", "g|gram|gramm|grams|gramme"}, {unit, "mg", "mg|milligram|milligrams"}, {unit, "lb", "lb|lbs"}, {unit, "pound", "pound|pounds"}, {unit, "oz", "oz|ounce|ounces"},
	{unit, "km", "km|kilometer|kilometre|kms|kilometers|kilometres"}, {unit, "m", "m|meter|metre|meters|metres"}, {unit, "cm", "cm|centimeter|centimetre|centimeters"}, {unit, "mm", "mm|millimeter|millimetre"}, {unit, "mile", "mile|miles|mi"}, {unit, "ft", "ft|foot|feet"}, {unit, "inch", "inch|inches"},
	{unit, "hour", "h|hr|hrs|hour|hours"}, {unit, "minute", "mins|minute|minutes"}, {unit, "sec", "sec|secs|seconds"}, {unit, "ms", "ms|millisecond|milliseconds"}, {unit, "day", "day|days"}, {unit, "week", "week|weeks|wk|wks"}, {unit, "month", "month|months"}, {unit, "year", "year|years|yr|yrs"},
	{unit, "kb", "kb|kilobyte|kilobytes"}, {unit, "mb", "mb|megabyte|megabytes"}, {unit, "gb", "gb|gigabyte|gigabytes|gigs"}, {unit, "tb", "tb|terabyte|terabytes"}, {unit, "ml", "ml|milliliter|millilitre|milliliters"}, {unit, "l", "l|liter|litre|liters|litres"},
	{unit, "percent", "percent|per cent|pct|prozent"}, {unit, "usd", "usd|dollar|dollars|bucks"}, {unit, "eur", "eur|euro|euros"}, {unit, "gbp", "gbp|pounds sterling"}, {unit, "jpy", "jpy|yen"}, {unit, "inr", "inr|rupee|rupees"}, {unit, "rub", "rub"}, {unit, "krw", "krw|won"},
	{unit, "celsius", "celsius|degrees celsius|degrees c|°c"}, {unit, "fahrenheit", "fahrenheit|degrees fahrenheit|degrees f|°f"}, {halfday, "am", "am"}, {halfday, "pm", "pm"},
}
