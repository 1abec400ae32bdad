// SPDX-License-Identifier: GPL-3.0-or-later
// What a participant asks for before it sends anything. See src/protocol/policy.c.
import { Refusal } from "./bytes.js";
import { recordEpsilon } from "./invitation.js";

const share = (units) => Number(units) / 1e18;
const spelled = (name) => name.replace(/^[ \t]+|[ \t]+$/g, "").toLowerCase();

/** `never` names columns whose values are sent in no form, whatever their case. */
function forbids(policy, column) {
    return (policy.never ?? []).some((name) => spelled(name) === spelled(column));
}

const NUMBERS = ["leastK", "mostExposure", "leastPeople", "mostEpsilon", "mostTolerance"];
const LISTS = ["never", "models"];

/** A wish that is misspelled, or is not a number, would be one that nobody looks at. */
function checkSpelling(policy) {
    for (const [name, wish] of Object.entries(policy)) {
        if (wish === undefined)
            continue;
        if (NUMBERS.includes(name) && !(typeof wish === "number" && wish >= 0))
            throw new Refusal(`the policy needs a number from 0 on for '${name}'`);
        if (LISTS.includes(name) && !(Array.isArray(wish) && wish.every((word) => typeof word === "string")))
            throw new Refusal(`the policy needs a list of names for '${name}'`);
        if (!NUMBERS.includes(name) && !LISTS.includes(name))
            throw new Refusal(`a policy has no '${name}', but ${[...NUMBERS, ...LISTS].join(", ")}`);
    }
}

function checkPromises(policy, invitation) {
    checkSpelling(policy);
    const epsilon = recordEpsilon(invitation);
    if (epsilon > (policy.mostEpsilon ?? Infinity))
        throw new Refusal(epsilon === Infinity
            ? "values of round one are sent as they are and have no epsilon; the policy asks for one"
            : `an answer to round one has an epsilon of ${epsilon}; the policy allows ${policy.mostEpsilon}`);
    if (invitation.terms.k < (policy.leastK ?? 0))
        throw new Refusal(`the collection is for groups of k = ${invitation.terms.k}; the policy asks for ` +
            `${policy.leastK}`);
}

/** Who says nothing about models accepts none in round two; who says nothing about their kinds, none in a
 * file that participants do not have. */
function checkModel(policy, { terms: { model } }, isRequired) {
    if (model === null || (policy.mostTolerance === undefined && !isRequired))
        return;
    if (policy.mostTolerance !== undefined && !(policy.models ?? ["independence"]).includes(model.kind))
        throw new Refusal(`the decision rests on a ${model.kind}; the policy does not accept such a model`);
    if (!(share(model.tolerance) <= policy.mostTolerance))
        throw new Refusal(`the decision rests on a model with a tolerance of ${share(model.tolerance)}; the policy ` +
            (policy.mostTolerance === undefined ? "does not accept one" : `allows ${policy.mostTolerance}`));
}

/** For round one: a column cannot be left out, so one that is never sent declines all of it. */
export function checkInvitation(policy, invitation) {
    const { terms } = invitation;
    checkPromises(policy, invitation);
    checkModel(policy, invitation, false);
    if (share(terms.exposure) > (policy.mostExposure ?? 1))
        throw new Refusal(`the invitation allows an exposure of ${share(terms.exposure)}; the policy allows ` +
            `${policy.mostExposure}`);
    if (terms.people < (policy.leastPeople ?? 0))
        throw new Refusal(`the invitation is for ${terms.people} people; the policy asks for ` +
            `${policy.leastPeople}`);
    for (const { name } of invitation.columns)
        if (forbids(policy, name))
            throw new Refusal(`the invitation asks for column '${name}', which the policy forbids; nothing is sent`);
}

/** For round two; leastK and mostExposure are required. */
export function checkDecision(policy, invitation, decision) {
    if (!(policy.leastK >= 1) || !(policy.mostExposure >= 0 && policy.mostExposure <= 1))
        throw new Refusal("a policy needs the least k and the most exposure, from 0 to 1");
    checkPromises(policy, invitation);
    checkModel(policy, invitation, true);
    if (decision.columns.length === 0)
        throw new Refusal("the decision releases no column: there is no second round");
    if (decision.bound > invitation.terms.exposure)
        throw new Refusal("the bound of the decision is above what the invitation allows");
    if (share(decision.bound) > policy.mostExposure)
        throw new Refusal(`the exposure is bounded by ${share(decision.bound)}; the policy allows ` +
            `${policy.mostExposure}`);
    if (decision.people < Math.max(policy.leastPeople ?? 0, invitation.terms.people))
        throw new Refusal("the decision is about fewer people than announced, or than the policy asks for");
    for (const { name } of decision.columns)
        if (forbids(policy, name))
            throw new Refusal(`the decision releases column '${name}', which the policy forbids`);
}
