{smcl}
{* SPDX-License-Identifier: GPL-3.0-or-later}{...}
{title:cellar: frequency tables about people, published safely}

{p 4 4 2}Needs the program {cmd:cellar} on PATH. This file and cellar.ado were not run by Cellar's tests.{p_end}

{p 4 4 2}{cmd:cellar tabulate using} {it:people.dta}{cmd:, by(}{it:region sex}{cmd:) table(}{it:true.json}{cmd:)}
[{cmd:domain(}{it:folder}{cmd:) margins(all) where(}{it:condition}{cmd:) options(}{it:others}{cmd:)}]{p_end}
{p 8 8 2}counts a .dta file where it lies. {it:true.json} has true counts: keep it where you alone can read.{p_end}

{p 4 4 2}{cmd:cellar protect using} {it:true.json}{cmd:, mechanism(discrete-laplace) totalepsilon(1) negatives(keep)}
{cmd:output(}{it:out.csv}{cmd:)} [{cmd:unit(person) ledger(}{it:file}{cmd:) dataset(}{it:name}{cmd:) request(}{it:name}{cmd:)
options(}{it:others}{cmd:) clear}]{p_end}
{p 8 8 2}protects the table, charges the ledger where one is named, and with {cmd:clear} loads what may be published:
codes that look like numbers become numbers (01 becomes 1). Without it, import {it:out.csv} as you like, {cmd:stringcols()} included.{p_end}

{p 4 4 2}Options that hold a single quote are refused: they go to the shell in such quotes.{p_end}
