/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cellar from SAS, over the command line. NOT RUN by Cellar's tests: nobody here has SAS. It needs the
   program cellar on PATH and XCMD (the system option that lets SAS call programs).

     %cellar_tabulate(data=mylib.people, by=region sex, domain=codelists, margins=all, table=/safe/true.json)
     %cellar_protect(table=/safe/true.json, mechanism=discrete-laplace, total_epsilon=1, negatives=keep,
                     output=/public/diagnoses.csv, out=work.diagnoses)

   The data set is read where it lies (its .sas7bdat file): no copy of the records is made. TABLE holds true
   counts: keep it where you alone can read. Messages are in the log; &cellar_rc is the exit status (0 ok,
   1 failed, 2 wrong usage, 3 refused by a budget or a rule), and nothing is imported unless it is 0.

   What holds a comma goes in %str(): mechanism=%str(name:a=1,b=2). Double quotes are refused. PROC IMPORT makes numbers of
   codes that look like numbers (01 becomes 1): without OUT nothing is imported, and you read OUTPUT as you like. */

%global cellar_rc;

/* Runs one command line; its messages go to the log. */
%macro cellar_run(command);
    %let cellar_rc = 1;
    %if %index(%superq(command), %str(%")) %then %do; /* it would end the string below */
        %put ERROR: cellar takes no double quotes from SAS.;
        %return;
    %end;
    filename cellar_p pipe "&command 2>&1; echo cellar_rc=$?";
    data _null_;
        infile cellar_p truncover lrecl=32767;
        input line $char32767.;
        if line =: 'cellar_rc=' then call symputx('cellar_rc', substr(line, 11), 'G');
        else putlog line;
    run;
    filename cellar_p clear;
    %if &cellar_rc ne 0 %then %put ERROR: cellar ended with status &cellar_rc..;
%mend;

/* 'text' for the shell: quotes within it are closed, escaped and opened again. */
%macro cellar_quote(text);
%str(%')%qsysfunc(tranwrd(%superq(text), %str(%'), %str(%'\%'%')))%str(%')
%mend;

/* Counts a data set. BY: variables, with blanks between them. OPTIONS: any others of `cellar tabulate`. */
%macro cellar_tabulate(data=, by=, domain=, margins=none, where=, table=, options=);
    %local library member command;
    %let library = %scan(&data, 1, .);
    %let member = %lowcase(%scan(&data, -1, .));
    %if not %index(&data, .) %then %let library = work;
    %let command = cellar tabulate
        %cellar_quote(%qsysfunc(pathname(&library))/&member..sas7bdat)
        --by %sysfunc(translate(%sysfunc(compbl(&by)), %str(,), %str( )))
        --margins &margins -o %cellar_quote(&table) &options;
    %if %length(%superq(domain)) %then %let command = &command --domain %cellar_quote(&domain);
    %if %length(%superq(where)) %then %let command = &command --where %cellar_quote(%superq(where));
    %cellar_run(%superq(command))
%mend;

/* Protects a table, with a ledger where one is named, and imports what may be published. */
%macro cellar_protect(table=, mechanism=, total_epsilon=, negatives=, unit=record, ledger=, dataset=, request=,
                      output=, out=, options=);
    %local command;
    %let command = cellar protect %cellar_quote(&table) --mechanism %cellar_quote(&mechanism) --negatives &negatives
        --unit &unit -o %cellar_quote(&output) &options;
    %if %length(&total_epsilon) %then %let command = &command --total-epsilon &total_epsilon;
    %if %length(%superq(ledger)) %then %let command = &command --ledger %cellar_quote(&ledger)
        --dataset %cellar_quote(&dataset) --request %cellar_quote(&request);
    %cellar_run(%superq(command))
    %if &cellar_rc = 0 and %length(&out) %then %do;
        proc import datafile="&output" out=&out dbms=csv replace;
            guessingrows=max;
        run;
    %end;
%mend;
