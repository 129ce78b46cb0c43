"""The word lists that the rules of `sound/1` look up, all in small letters."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GENERIC_DOMAINS = _words(
    """
    com org net edu gov mil int info biz io ai co app dev xyz online shop site tech cloud store eu me tv us uk
    de
    """
)
"""Top-level domains that make a host of any label before them."""

COUNTRY_DOMAINS = _words(
    """
    ac ad ae af ag al am ao aq ar as at au aw az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd
    cf cg ch ci ck cl cm cn cr cu cv cw cx cy cz dj dk dm do dz ec ee eg er es et fi fj fk fm fo fr ga gd ge gf
    gg gh gi gl gm gn gp gq gr gt gu gw gy hk hm hn hr ht hu id ie il im in iq ir is it je jm jo jp ke kg kh ki
    km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw
    mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw
    sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tw tz
    ua ug uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
    """
)
"""Other country domains; these need a label of two characters or more before them."""

FILE_EXTENSIONS = _words(
    """
    pdf doc docx xls xlsx xlsm ppt pptx odt ods csv tsv txt rtf json jsonl xml yaml yml html htm md jpg jpeg png
    gif tif tiff bmp svg webp heic zip gz tar rar 7z py js ts java exe dll msg eml parquet log ini cfg sql mp3
    mp4 wav avi mov
    """
)
"""Endings of file names."""

CURRENCY_CODES = _words(
    """
    aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd btc btn bwp byn bzd cad
    cdf chf clp cny cop crc cup cve czk djf dkk dop dzd egp ern etb eth eur fjd fkp gbp gel ghs gip gmd gnf gtq
    gyd hkd hnl hrk htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr
    lrd lsl lyd mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk
    php pkr pln pyg qar ron rsd rub rwf sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt
    tnd top try ttd twd tzs uah ugx usd uyu uzs ves vnd vuv wst xaf xcd xof xpf yer zar zmw zwl rmb ntd
    """
)
"""Codes of currencies (ISO 4217 and a few in use)."""

CURRENCY_NAMES = _words(
    """
    us$ a$ au$ c$ ca$ hk$ nz$ s$ sg$ r$ nt$ mx$ rs kr zł zl kč kc ft lei lek euro euros dollar dollars pound
    pounds yen yuan rupee rupees franc francs cent cents
    """
)
"""Other short forms and names of currencies."""

UNITS = _words(
    """
    % ‰ percent pct bps bp pp m km cm mm nm um µm mi mile miles yd yard yards ft feet foot in inch inches m2 m3
    km2 cm2 cm3 mm2 ft2 sqft sqm ha acre acres g kg mg ug µg ng t mt lb lbs oz ton tons tonne tonnes stone l ml
    dl cl ul µl gal gallon gallons pt qt cc s sec secs second seconds ms min mins minute minutes h hr hrs hour
    hours d day days week weeks month months yr yrs year years °c °f °k k ° c f w kw mw gw kwh mwh gwh wh v kv
    mv a ma ah mah hz khz mhz ghz j kj mj cal kcal n kn pa kpa mpa bar mbar psi atm mmhg b kb mb gb tb bit bits
    byte bytes mol mmol umol nmol mg/dl g/dl mmol/l umol/l ng/ml ug/ml mg/l g/l mg/kg iu iu/l u/l meq meq/l mph
    kph km/h m/s m/s2 rpm db dba ppm ppb x bn bln billion billions mn mln million millions thousand thousands
    pcs pc units unit dpt dioptres
    """
)
"""Units and magnitudes that may follow a number."""

NUMBERED_THINGS = _words(
    """
    version versions ver v release rel rev revision build section sections sec sect § chapter ch article art
    clause item items table tables figure fig rule note part schedule exhibit appendix annex paragraph para no
    number nr step page pp p subsection title regulation standard iso python java ubuntu ios android windows php
    ruby node perl macos debian kernel linux usb bluetooth html http tls ssl api schema firmware software model
    """
)
"""Words before a version or an outline number, whose zeros count."""

GRADES = _words(
    """
    a aa aaa b bb bbb c cc ccc d o ab f
    """
)
"""Grades and blood groups after which a hyphen is a minus."""
