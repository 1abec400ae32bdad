# SPDX-License-Identifier: GPL-3.0-or-later
# What PxWeb's library demands of a px file holds for tables, releases, suppressed cells, fitted values and estimates,
# in one language and in two.
printf 'code,label,label@de\nF,"Women, and girls",Frauen\nM,Men; and boys,Männer\n' >sex.csv
printf 'code,parent,label,role\n1,N,One,\n2,N,Two,\n3,S,Three,\nN,,"The ""North""",\nS,,South,\nA,,All,total\n' >region.csv
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain sex=sex.csv --domain region=region.csv \
    --margins all --hierarchy region --title People --source 'An office' --updated 2026-11-18 --role region=geo \
    -o table.px 2>/dev/null
protect="cellar protect table.px --mechanism identity --accept no-protection --per-cell"
$protect --negatives keep -o release.px 2>/dev/null
$protect --negatives zero --threshold 3 --below suppress -o suppressed.px 2>/dev/null
cellar protect table.px --mechanism discrete-laplace:epsilon=1 --per-cell --negatives keep -o noisy.px 2>/dev/null
cellar fit noisy.px -o fitted.px --sd --estimates estimates.px >/dev/null
python3 "$DATA/../check_px.py" table.px release.px suppressed.px noisy.px fitted.px estimates.px
echo "# the note says that noise was added where it was"
for file in release noisy fitted; do sed -n 's/^NOTE="\(.*\)";/\1/p' $file.px; done
