# SPDX-License-Identifier: GPL-3.0-or-later
# What is refused, and how it is said.
printf 'a,y,count\nx,1,2\nx,2,1\n' >t.csv
say() { cellar risk "$@" 2>&1; echo "($?)"; }
say
say cel
say cell --mechanism laplace:epsilon=1
say cell --counts 3,0
say cell --mechanism laplac:epsilon=1 --counts 3,0
say cell --mechanism laplace:epsilon=1 --size 3 --shares 0.5,0.4
say cell --mechanism laplace:epsilon=1 --size 3 --shares 0.5,0.5 --prior 1,1,1
say cell --mechanism laplace:epsilon=1 --size-model poison:lambda=1 --shares 0.5,0.5
say cell --mechanism laplace:epsilon=1 --counts 3,0 --qid a
say cell --mechanism laplace:epsilon=1 --counts 18446744073709551615,1
say cell --mechanism laplace:epsilon=1 --size-model poisson:lambda=1e9 --shares 0.5,0.5
say table t.csv --mechanism laplace:epsilon=1
say table t.csv --mechanism laplace:epsilon=1 --qid a --sensitive z
say table t.csv --mechanism laplace:epsilon=1 --qid a --sensitive a
say table t.csv --mechanism laplace:epsilon=1 --qid a --sensitive y --groups g.csv -o g.csv
say table t.csv --mechanism laplace:epsilon=1 --qid a --sensitive y --measure locl
say table t.csv --mechanism discrete-laplace:epsilon=1 --qid a --sensitive y --method published
say table t.csv --mechanism laplace --vary epsilon --qid a --sensitive y
say table t.csv --mechanism laplace --target 0.1 --vary epsilon=1 --qid a --sensitive y
say table t.csv --mechanism laplace --epsilon 1,2 --qid a --sensitive y --groups g.csv
say cell --mechanism laplace:epsilon=1 --counts 3,0 --measure local,shrinkage
say cell --mechanism laplace:epsilon=1 --counts 3,0 --sensitive-as joint
say cell --mechanism laplace:epsilon=1 --size-model negbin:r=1e308,lambda=0.5 --shares 0.5,0.5
say cell --mechanism laplace:epsilon=1 --size-model negbin:r=1e-20,lambda=1e-30 --shares 0.5,0.5
say table t.csv --mechanism laplace:epsilon=1 --qid a --sensitive y --groups t.csv --force
say table t.csv --mechanism laplace:epsilon=1 --qid a --sensitive y -o t.csv --force
say table t.csv --mechanism laplace:epsilon=1 --qid a --sensitive y --groups none/g.csv
say table t.csv --mechanism laplace --qid a --sensitive y --target 2
say table t.csv --mechanism laplace --qid a --sensitive y --target 0.4 --method exact,published
say table t.csv --mechanism truncated-laplace:epsilon=1 --qid a --sensitive y --target 0.4 --vary m=0.3..0.9
say table t.csv --mechanism truncated-laplace:epsilon=1 --qid a --sensitive y --target 0.9 --vary m=1..20 \
    --measure local
ls
cat t.csv
