# SPDX-License-Identifier: GPL-3.0-or-later
# What is refused, and why.
cellar protect "$DATA/occupation.csv" --mechanism discrete-laplace:epsilon=1 --negatives zero --domain-public \
    -o noisy.json 2>/dev/null
try() {
    cellar infer "$@" 2>&1
    echo "exit $?"
}
try
try indepence noisy.json
try independence noisy.json --rows age
try independence noisy.json --rows age --columns ocupation
try independence "$DATA/occupation.csv" --rows age --columns occupation 2>&1 | sed "s|$DATA/||g"
try loglinear noisy.json --model 'age + work'
try loglinear noisy.json --model 'age*occupation' --against 'age + occupation'
try loglinear noisy.json --columns age --model age
printf 'sex,region,w\nF,N,1\nM,S,1.5\n' >people.csv
cellar tabulate people.csv --by sex,region --weight w --max-weight 2 -o weighted.json 2>/dev/null
cellar protect weighted.json --mechanism discrete-laplace:epsilon=1 --negatives keep --max-weight 2 --domain-public \
    -o weighted.csv 2>/dev/null
try independence weighted.csv --rows sex --columns region
cellar protect "$DATA/occupation.csv" --mechanism discrete-laplace:epsilon=1 --negatives keep --domain-public \
    -o kept.json 2>/dev/null
cellar fit kept.json -o fitted.json >/dev/null
cellar fit kept.json -o fitted.csv >/dev/null
try independence fitted.json --rows age --columns occupation
try interval fitted.csv --every-cell
try binomial --released 5 --trials 10 --null 1.5 --mechanism laplace:epsilon=1
try binomial --released 50 --trials 10 --null 0.5 --mechanism truncated-laplace:epsilon=1,m=3
try binomial --released x --trials 10 --null 0.5 --mechanism laplace:epsilon=1
try binomial --released -3 --trials 10 --null 0.5 --mechanism laplace:epsilon=1 --negatives zero
try independence noisy.json --rows age --columns occupation --mechanism laplace:epsilon=2
try binomial --released 3 --trials 10 --null 0.5 --mechanism laplace:epsilon=1 --reference bootstrap
try binomial --released 5 --trials 10 --null 0.5 --mechanism laplace:epsilon=1 --critical -1
try loglinear kept.json --model ''
try loglinear kept.json --model ' 1 ' | head -1
