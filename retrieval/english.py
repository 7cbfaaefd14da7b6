"""Short everyday words that are spelled like abbreviations: CAP is one, 'cap' may be a cap (pure)."""

from __future__ import annotations

_WORDS = """
a ace aces act add adds age aged ages aid aids aim aims air ale all am an and ant any arc are arm arms art as
ask at ate bad bag bags ban band bar bars base bat be bed beds bee beef been bet big bin bit bite bits blue boil
bone book both bow box boy bus but buy by call calm came camp can cap caps car card care cart case cat cats
cells chat chip clap clip cod code coil cold cope cops cord cost cot cover cow crab cream cry cup cups cut cuts
dad dads dam damp dare date day days dead deal dear deed deep dent die died dies diet dig dim dip dire disc dish
do does dog done dose doses dot down drip drop drug drugs dry due dust duty ear ears ease east easy eat ebb edge
eg egg eggs eh end ends era et eve ever eye eyes face fact fad fail fall fan far farm fast fat fats fear fed fee
feed feel feet few fill film fin fish fist fit fits five fix flap flat flu foam fog food fool foot for form four
free fun fur gain gap gaps gas gel get girl give glad go goal god gold good got grip gum gums gun gut had hair
half hall ham hand hands hard harm has hat have he head heal heap hear heart heat heel help her here hers hi
high him hip hips his hit hot hour how hug hut i ice ie ill in is it its jam jar jaw job join joint jump just
keep key keys kick kid kids kind kit knee lab lad lag lap last late law lay lead leap led left leg legs less let
lid lids life lift like limb line lines lip lips list live load lob log long look loop loss lost lot lots loud
love low lump lung mad made main make male man map maps mark mask mass mast mat may me meal meals mean meet men
mend met mild milk mind mine mist mix moan mop more most move mr mrs ms much mud mum must my nail nap neck need
net new next nib nil nip no nod nor nose not note now nut nuts oat odd of off oil old on once one only or oral
ore other our out over own pace pack pad pads page paid pain pair pal pale palm pan pant pap park part pass past
pat path pay pea peak pear pee peg pen pet pie pig pill pills pin pink pip pit plan play plot plug plus pm pod
pop pot pots pour pray press prop pub puff pulp pulse pump push put rag ran rap rare rash rat rate raw ray re
read red rest rib ribs rice rid ring rip rise risk road rob rod role roll roof room root rot row rub rug run
rush sad safe said salt same sand sap sat save saw say scan scar sea seat see seen self send sent set sets sex
she shin ship shock shoe shop shot shots shut shy sick side sign sin sip sit site six size skin sleep slip slow
smart snap so soap sob sod soft son soon sore sores sort soup spa spin spit spot spots st star start stay stem
step steps stir stop stress such suit sum sun sure swab tab tabs tag tail take talk tall tan tap tape tar task
tea team tear teen tell ten tend test text than that the them then they thin this tic tick tie time tin tip tips
tired to toe toes tone tongue too took top toss touch town toy trap tray tree trim trip try tub tube tubes tug
turn twin two type ulcer up upon urge us use van vein very vet via view vital voice vs wait walk wall war warm
was wash watch water wave wax way we weak wear web week well went were west wet what when whip who whole why
wide wife will win wind wipe wise wish with word work worm wound wrap wrist yes yet you your zip
"""

COMMON_WORDS = frozenset(_WORDS.split())
