package alike

// englishGrammar is the small words. The classes follow the grammar's: articles
// and pronouns name nothing that an answer turns on, prepositions say what the
// next word is to the rest, auxiliaries ask and date.
var englishGrammar = []row{
	// Politeness and filler.
	{polite, "", "please|kindly|pls|plz|thanks|thank you|thank you very much|thanks in advance|many thanks|thx|cheers|hi|hello|hey|hi there|hello there|good morning|good afternoon|good evening|dear|sir|madam|excuse me|sorry"},
	{polite, "", "can you|could you|can you please|could you please|would you please|would you mind|would you kindly|can u|do you mind|do you know|can anyone|can someone|could someone|could anyone|does anyone know|does anybody know|anyone know|any idea|any ideas"},
	{polite, "", "tell me|let me know|show me|give me|help me understand|explain to me|teach me|i was wondering|i am wondering|i wonder|wondering|i would like to know|i want to know|i need to know|i would love to know|like to know|i am curious|just curious|curious|quick question|i have a question|may i ask|can i ask|could i ask|i would like to ask|want to ask|do you happen to know|would you be able to|are you able to|would it be possible for you to"},
	{skip, "", "i want to|i would like to|i would love to|i wish to|i am trying to|i am looking to|i try to|trying to|looking to|we want to|we would like to|i would like|i want|i am looking for|we are trying to|go about|in order"},
	{skip, "", "a|an|the|this|that|these|those|there|here|it|its|itself|which|what|very|quite|exactly|kind of|sort of|whats"},
	{polite, "", "so|but|really|actually|basically|simply|well|ok|okay|um|uh|hmm|anyway|maybe|perhaps|oh|somehow|literally"},
	{skip, "", "just want to|i just want to|i just|can you just|could you just|what about|how about|as well|s"},
	{skip, "", "been|being|get to|got|version of|of the following|right away|asap"},
	// Persons.
	{me, "", "i|me|my|mine|myself|we|us|our|ours|ourselves|one's"},
	{you, "", "you|your|yours|yourself|u|ur"},
	{noun, "he", "he|him|his|himself"}, {noun, "she", "she|her|hers|herself"}, {noun, "they", "they|them|their|theirs|themselves"},
	// Auxiliaries.
	{auxNow, "", "is|are|am|do|does"}, {auxPast, "", "was|were|did|had"}, {auxWill, "", "will|shall|going to|gonna"}, {aux, "", "have|has|having|would"},
	{modal, "can", "can|could|able to|be able to|is it possible to|is it possible|would it be possible to|possible to|am i able to|possible for me to"},
	{modal, "may", "may|might|am i allowed to|allowed to"},
	{modal, "should", "should|ought to|supposed to|am i supposed to"},
	{modal, "must", "must|have to|has to|do i have to|need to|needs to|do i need to|required to|is it necessary to|necessary to|am i required to|got to|gotta|obliged to"},
	// Questions.
	{ask, "how", "how|how to|what is the best way to|what is the best way|what is the right way to|what is the correct way to|what is the easiest way to|what is the way to|which way|what is a good way to|what are the steps to|what steps|what steps do i take to|steps to|steps for|in what way|in which way|by what means|how exactly|is there a way to|is there any way to|are there any ways to|what are the ways to|ways to|best way to|what is the procedure for|what is the process for|what is the process to|the process of|what is the proper way to|what do i do to|how would one go about|how do i go about"},
	{ask, "why", "why|how come|for what reason|what is the reason|what is the reason for|what is the reason that|what are the reasons|the reason why|why exactly|the reason"},
	{ask, "when", "when|at what time|what time|at which time|what is the date of|what date|on what date|on which date"},
	{ask, "where", "where|in which place|in what place|at which location|at what location|where exactly"},
	{ask, "who", "who|whom|which person|what person"}, {ask, "whose", "whose"},
	{ask, "how many", "how many|what number of|what is the number of"},
	{ask, "how much", "how much|what amount of|what is the amount of"},
	{ask, "how long", "how long|for how long|how much time|duration|what is the duration of|what is the length of time"},
	{ask, "how often", "how often|how frequently|how many times|frequency"},
	{ask, "whether", "whether|know if|tell me if|check if|see if|if it is possible"},
	{skip, "", "what should i do|what can i do|what do i do|what am i supposed to do|what do i need to do|what must i do"},
	{noun, "age", "how old|age"}, {noun, "height", "how tall|how high|height"}, {noun, "distance", "how far|distance"}, {noun, "size", "how big|how large|size"},
	{noun, "weight", "how heavy|weight"}, {noun, "speed", "how fast|how quickly|speed"}, {noun, "depth", "how deep|depth"},
	{noun, "cost", "cost|price|how expensive|pricing|how much do i pay for|how much does it cost"},
	// Prepositions. Those of time and place that change an answer are words.
	{mark, "to", "to|into|onto|towards|toward"}, {mark, "from", "from|out of"}, {mark, "in", "in|inside"}, {mark, "on", "on"}, {mark, "at", "at"}, {mark, "for", "for"},
	{mark, "with", "with|using|by using|by means of|via|through"}, {mark, "by", "by"}, {mark, "of", "of"}, {mark, "about", "about|regarding|concerning|on the subject of"}, {mark, "as", "as"},
	{mark, "than", "than"}, {mark, "if", "if|in case|in case of|provided that"},
	{and, "", "and|as well as|plus|along with"}, {or, "", "or|either"},
	{polar, "before", "before|prior to|earlier than"}, {polar, "after", "after|following|later than"}, {polar, "during", "during|while"},
	{polar, "under", "under|below|beneath|less than|fewer than|lower than|smaller than"}, {polar, "over", "over|above|more than|greater than|higher than"},
	{polar, "within", "within"}, {polar, "until", "until|till|up to"}, {polar, "since", "since"}, {polar, "against", "against|versus|vs|compared to|compared with|as opposed to"},
	{polar, "because", "because|because of|due to|caused by"}, {polar, "then", "then|afterwards"}, {polar, "instead", "instead|instead of|rather than"},
	// Negations.
	{neg, "", "not|no|nor|neither|hardly|barely|non"}, {polar, "without", "without|w/o|lacking"}, {polar, "never", "never|not ever"},
	{polar, "unless", "unless"}, {polar, "except", "except|except for|excluding|apart from|other than|besides"},
	{polar, "including", "including|inclusive"},
	// Quantities.
	{amount, "all", "all|every|each|all of|each of|every single|everything|entire|whole"}, {amount, "any", "any|anything"}, {amount, "some", "some|some of|several|a few|certain"},
	{amount, "few", "few"}, {amount, "none", "none|none of|nothing"}, {amount, "nobody", "nobody|no one"}, {amount, "everybody", "everybody|everyone"},
	{amount, "only", "only|just|solely|exclusively|nothing but"}, {amount, "both", "both|both of"}, {amount, "most", "most|most of|majority of"},
	{amount, "at least", "at least|no less than|no fewer than|minimum of|a minimum of"}, {amount, "at most", "at most|no more than|maximum of|a maximum of|not more than"},
	{amount, "exactly", "precisely"}, {amount, "more", "more|additional|extra"}, {amount, "less", "less|fewer"}, {amount, "too", "too"}, {amount, "enough", "enough|sufficient"},
	{amount, "always", "always|at all times"}, {amount, "sometimes", "sometimes|occasionally"}, {amount, "usually", "usually|normally|typically|generally"}, {amount, "often", "often|frequently"},
	{amount, "many", "many|a lot of|lots of|plenty of"}, {amount, "much", "much"}, {amount, "half", "half"}, {amount, "double", "double|twice"},
	{amount, "other", "other|another"}, {amount, "first", "initial"}, {amount, "last", "last|final|latest|most recent"}, {amount, "next", "next|upcoming"}, {amount, "previous", "previous|prior"},
	{amount, "still", "still"}, {amount, "already", "already"}, {amount, "yet", "yet"}, {amount, "again", "again|once more"}, {amount, "now", "now|right now|at the moment|currently|at present"},
	// Numbers in words.
	{numeral, "0", "zero"}, {numeral, "1", "one"}, {numeral, "2", "two"}, {numeral, "3", "three"}, {numeral, "4", "four"}, {numeral, "5", "five"}, {numeral, "6", "six"},
	{numeral, "7", "seven"}, {numeral, "8", "eight"}, {numeral, "9", "nine"}, {numeral, "10", "ten"}, {numeral, "11", "eleven"}, {numeral, "12", "twelve|dozen|a dozen"},
	{numeral, "13", "thirteen"}, {numeral, "14", "fourteen"}, {numeral, "15", "fifteen"}, {numeral, "16", "sixteen"}, {numeral, "17", "seventeen"},
	{numeral, "18", "eighteen"}, {numeral, "19", "nineteen"}, {numeral, "20", "twenty"}, {numeral, "30", "thirty"}, {numeral, "40", "forty"}, {numeral, "50", "fifty"},
	{numeral, "60", "sixty"}, {numeral, "70", "seventy"}, {numeral, "80", "eighty"}, {numeral, "90", "ninety"},
	{scale, "2", "hundred"}, {scale, "3", "thousand"}, {scale, "6", "million"}, {scale, "9", "billion"}, {scale, "12", "trillion"},
	{ordinal, "1", "first"}, {ordinal, "2", "second"}, {ordinal, "3", "third"}, {ordinal, "4", "fourth"}, {ordinal, "5", "fifth"}, {ordinal, "6", "sixth"},
	{ordinal, "7", "seventh"}, {ordinal, "8", "eighth"}, {ordinal, "9", "ninth"}, {ordinal, "10", "tenth"},
	{skip, "", "which one|the one|no one's"},
}

// englishNames are names that are written in lower case as often as not. The
// guard needs none to tell two names apart; they make its reason exact.
var englishNames = []row{
	{month, "1", "january|jan"}, {month, "2", "february|feb"}, {month, "3", "march"}, {month, "4", "april|apr"}, {month, "6", "june|jun"}, {month, "7", "july|jul"},
	{month, "8", "august|aug"}, {month, "9", "september|sept|sep"}, {month, "10", "october|oct"}, {month, "11", "november|nov"}, {month, "12", "december|dec"},
	{name, "monday", "monday|mon"}, {name, "tuesday", "tuesday|tue|tues"}, {name, "wednesday", "wednesday|wed"}, {name, "thursday", "thursday|thu|thur|thurs"},
	{name, "friday", "friday|fri"}, {name, "", "saturday|sunday|weekend|today|tomorrow|yesterday|tonight"},
	{tongue, "", "english|french|german|spanish|italian|portuguese|dutch|russian|arabic|chinese|mandarin|cantonese|japanese|korean|hindi|turkish|polish|swedish|norwegian|danish|finnish|greek|hebrew|thai|vietnamese|indonesian|ukrainian|czech|hungarian|romanian|latin"},
	{name, "usa", "usa|united states|united states of america|the states"}, {name, "uk", "uk|united kingdom|great britain|britain"}, {name, "nyc", "nyc|new york|new york city"},
	{name, "", "france|germany|spain|italy|portugal|netherlands|russia|china|japan|korea|india|canada|mexico|brazil|argentina|australia|austria|switzerland|poland|sweden|norway|denmark|finland|ireland|scotland|greece|turkey|egypt|israel|ukraine|belgium|europe|asia|africa|america|california|texas|florida"},
	{name, "", "paris|london|berlin|madrid|rome|tokyo|beijing|shanghai|moscow|vienna|lisbon|amsterdam|chicago|boston|seattle|munich|milan|barcelona|sydney|toronto|dubai|mumbai|delhi|dublin|zurich|geneva|brussels|prague|warsaw|athens|cairo|istanbul"},
	{name, "javascript", "javascript|js"}, {name, "typescript", "typescript|ts"}, {name, "kubernetes", "kubernetes|k8s"}, {name, "postgresql", "postgresql|postgres"}, {name, "golang", "golang"},
	{name, "", "python|java|rust|ruby|php|swift|kotlin|scala|perl|mysql|mongodb|redis|sqlite|docker|linux|windows|macos|ubuntu|debian|android|iphone|ios|aws|gcp|azure|google|microsoft|apple|amazon|facebook|github|gitlab|netflix|paypal|visa|mastercard|chrome|firefox|safari|gmail|outlook|slack|react|angular|vue"},
}
