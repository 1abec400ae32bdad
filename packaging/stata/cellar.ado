*! SPDX-License-Identifier: GPL-3.0-or-later
*! Cellar from Stata, over the command line. NOT RUN by Cellar's tests: nobody here has Stata.
* It needs the program cellar on PATH (Linux). help cellar describes it.
* Options go to the shell in single quotes: one that holds a single quote itself is refused.
program define cellar
    version 14
    gettoken verb 0 : 0, parse(" ,")
    if strpos(`"`0'"', "'") {
        display as error "cellar: no single quotes, please"
        exit 198
    }
    if "`verb'" == "tabulate" cellar_tabulate `0'
    else if "`verb'" == "protect" cellar_protect `0'
    else {
        display as error "cellar: say tabulate or protect"
        exit 198
    }
end

* Counts a .dta file where it lies; no copy of the records is made.
program define cellar_tabulate
    syntax using/, BY(string) TABle(string) [DOMain(string) MARgins(string) WHERE(string) OPTions(string)]
    if "`margins'" == "" local margins none
    local by : list retokenize by
    local by : subinstr local by " " ",", all
    local command cellar tabulate '`using'' --by `by' --margins `margins' -o '`table'' `options'
    if "`domain'" != "" local command `command' --domain '`domain''
    if `"`where'"' != "" local command `command' --where '`where''
    cellar_run `"`command'"'
end

* Protects a table and loads what may be published.
program define cellar_protect
    syntax using/, MECHanism(string) NEGatives(string) OUTput(string) [TOTALepsilon(string) UNIT(string) ///
        LEDger(string) DATAset(string) REQuest(string) OPTions(string) CLEAR]
    local command cellar protect '`using'' --mechanism '`mechanism'' --negatives `negatives' -o '`output'' `options'
    if "`totalepsilon'" != "" local command `command' --total-epsilon `totalepsilon'
    if "`unit'" != "" local command `command' --unit `unit'
    if "`ledger'" != "" local command `command' --ledger '`ledger'' --dataset '`dataset'' --request '`request''
    cellar_run `"`command'"'
    if "`clear'" != "" import delimited using "`output'", clear varnames(1)
end

* Runs a command line. Stata's shell hides the exit status, so it comes back in a file.
program define cellar_run
    args command
    tempfile status
    tempname handle
    shell `command'; echo \$? > "`status'"
    file open `handle' using "`status'", read text
    file read `handle' code
    file close `handle'
    if "`code'" != "0" {
        display as error "cellar ended with status `code'; its messages are above or in the terminal"
        exit 459
    }
end
