/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SDMX-ML 2.1: dataflows, and data structures with their concepts and code lists. */
#include <string.h>

#include "base/markup.h"
#include "serve/sdmx.h"

#define STRUCTURE_REF "agencyID=\"" SERVE_SDMX_AGENCY "\" version=\"" SERVE_SDMX_VERSION "\""

/* ---- names ---------------------------------------------------------------------- */

/* A name in every language; without texts, `plain` in English. */
static void structure_add_names(const serve_dataset *dataset, serve_texts texts, const char *plain,
                                cellar_text *out)
{
    for (size_t l = 0; l < (texts.in != NULL ? dataset->n_languages : 1); l++) {
        cellar_text_printf(out, "<common:Name xml:lang=\"%s\">",
                           texts.in != NULL ? dataset->languages[l] : "en");
        cellar_markup_add(out, texts.in != NULL ? texts.in[l] : plain);
        cellar_text_add_string(out, "</common:Name>");
    }
}

/* Opens an artefact of the agency: <structure:KIND id="LEAD..." ...>. */
static void structure_open(const char *kind, const char *lead, const serve_dataset *dataset,
                           const char *dimension, cellar_text *out)
{
    cellar_text_printf(out, "<structure:%s id=\"%s%s%s%s\" " STRUCTURE_REF " isFinal=\"true\">",
                       kind, lead, dataset->id, dimension != NULL ? "_" : "",
                       dimension != NULL ? dimension : "");
}

/* ---- code lists ------------------------------------------------------------------ */

/* `parent` may be NULL. */
static void structure_open_code(const char *code, cellar_text *out)
{
    cellar_text_add_string(out, "<structure:Code id=\"");
    cellar_markup_add(out, code);
    cellar_text_add_string(out, "\">");
}

static void structure_close_code(const char *parent, cellar_text *out)
{
    if (parent != NULL) {
        cellar_text_add_string(out, "<structure:Parent><Ref id=\"");
        cellar_markup_add(out, parent);
        cellar_text_add_string(out, "\"/></structure:Parent>");
    }
    cellar_text_add_string(out, "</structure:Code>\n");
}

/* 1 when a finer level has the code as well: asked for, it is that one. */
static int structure_is_hidden(const serve_variable *variable, size_t level, const char *code)
{
    for (size_t l = level + 1; l < variable->n_levels; l++)
        if (serve_find_category(&variable->levels[l], code) != SIZE_MAX)
            return 1;
    return 0;
}

static const char *structure_parent(const serve_variable *variable, size_t level,
                                    const serve_category *category)
{
    if (level == 0 || category->parent == SIZE_MAX)
        return SERVE_SDMX_TOTAL;
    return variable->levels[level - 1].categories[category->parent].code;
}

/* The total, then all levels from the coarsest; constants have no total. */
static void structure_add_codes(const serve_dataset *dataset, const serve_variable *variable,
                                cellar_text *out)
{
    if (!variable->is_constant) {
        structure_open_code(SERVE_SDMX_TOTAL, out);
        structure_add_names(dataset, (serve_texts){NULL}, "Total", out);
        structure_close_code(NULL, out);
    }
    for (size_t l = 0; l < variable->n_levels; l++)
        for (size_t c = 0; c < variable->levels[l].n_categories; c++) {
            const serve_category *category = &variable->levels[l].categories[c];
            const char *parent = structure_parent(variable, l, category);
            if (structure_is_hidden(variable, l, category->code))
                continue;
            structure_open_code(category->code, out);
            structure_add_names(dataset, category->label, NULL, out);
            structure_close_code(
                variable->is_constant || strcmp(parent, category->code) == 0 ? NULL : parent, out);
        }
}

static void structure_add_content_codes(const serve_dataset *dataset, cellar_text *out)
{
    for (int content = 0; content < SERVE_N_CONTENTS; content++) {
        structure_open_code(serve_content_code((serve_content) content), out);
        structure_add_names(dataset, serve_content_texts(dataset, (serve_content) content),
                            serve_content_label(dataset, (serve_content) content, 0), out);
        structure_close_code(NULL, out);
    }
}

static void structure_add_codelists(const serve_dataset *dataset, const serve_sdmx *sdmx,
                                    cellar_text *out)
{
    for (size_t d = 0; d < sdmx->n_key; d++) {
        const size_t v = sdmx->dimensions[d].variable;
        structure_open("Codelist", "CL_", dataset, sdmx->dimensions[d].id, out);
        if (v == SIZE_MAX) {
            structure_add_names(dataset, dataset->contents_label, "contents", out);
            structure_add_content_codes(dataset, out);
        } else {
            structure_add_names(dataset, dataset->variables[v].label, NULL, out);
            structure_add_codes(dataset, &dataset->variables[v], out);
        }
        cellar_text_add_string(out, "</structure:Codelist>\n");
    }
}

/* ---- concepts ---------------------------------------------------------------------- */

static void structure_add_concept(const serve_dataset *dataset, const char *id, serve_texts label,
                                  const char *plain, cellar_text *out)
{
    cellar_text_printf(out, "<structure:Concept id=\"%s\">", id);
    structure_add_names(dataset, label, plain, out);
    cellar_text_add_string(out, "</structure:Concept>\n");
}

static void structure_add_concepts(const serve_dataset *dataset, const serve_sdmx *sdmx,
                                   cellar_text *out)
{
    structure_open("ConceptScheme", "CS_", dataset, NULL, out);
    structure_add_names(dataset, dataset->title, NULL, out);
    for (size_t d = 0; d < sdmx->n; d++) {
        const size_t v = sdmx->dimensions[d].variable;
        structure_add_concept(dataset, sdmx->dimensions[d].id,
                              v == SIZE_MAX ? dataset->contents_label : dataset->variables[v].label,
                              "contents", out);
    }
    structure_add_concept(dataset, "OBS_VALUE", (serve_texts){NULL}, "value", out);
    structure_add_concept(dataset, "OBS_STATUS", (serve_texts){NULL}, "status of the value", out);
    structure_add_concept(dataset, "COMMENT_DSET", (serve_texts){NULL}, "protection and notes",
                          out);
    cellar_text_add_string(out, "</structure:ConceptScheme>\n");
}

/* ---- the structure ------------------------------------------------------------------- */

static void structure_add_identity(const serve_dataset *dataset, const char *id, cellar_text *out)
{
    cellar_text_printf(out,
                       "<structure:ConceptIdentity><Ref id=\"%s\" maintainableParentID=\"CS_%s\" "
                       "maintainableParentVersion=\"" SERVE_SDMX_VERSION
                       "\" agencyID=\"" SERVE_SDMX_AGENCY "\" class=\"Concept\"/>"
                       "</structure:ConceptIdentity>",
                       id, dataset->id);
}

static void structure_add_dimensions(const serve_dataset *dataset, const serve_sdmx *sdmx,
                                     cellar_text *out)
{
    cellar_text_add_string(out, "<structure:DimensionList id=\"DimensionDescriptor\">\n");
    for (size_t d = 0; d < sdmx->n; d++) {
        const char *id = sdmx->dimensions[d].id;
        const char *kind = d < sdmx->n_key ? "Dimension" : "TimeDimension";
        cellar_text_printf(out, "<structure:%s id=\"%s\" position=\"%zu\">", kind, id, d + 1);
        structure_add_identity(dataset, id, out);
        cellar_text_add_string(out, "<structure:LocalRepresentation>");
        if (d < sdmx->n_key)
            cellar_text_printf(out,
                               "<structure:Enumeration><Ref id=\"CL_%s_%s\" " STRUCTURE_REF
                               " class=\"Codelist\"/></structure:Enumeration>",
                               dataset->id, id);
        else
            cellar_text_add_string(out,
                                   "<structure:TextFormat textType=\"ObservationalTimePeriod\"/>");
        cellar_text_printf(out, "</structure:LocalRepresentation></structure:%s>\n", kind);
    }
    cellar_text_add_string(out, "</structure:DimensionList>\n");
}

static void structure_add_attribute(const serve_dataset *dataset, const char *id,
                                    const char *relation, cellar_text *out)
{
    cellar_text_printf(out, "<structure:Attribute id=\"%s\" assignmentStatus=\"Conditional\">", id);
    structure_add_identity(dataset, id, out);
    cellar_text_printf(out,
                       "<structure:AttributeRelationship>%s</structure:AttributeRelationship>"
                       "</structure:Attribute>\n",
                       relation);
}

static void structure_add_definition(const serve_dataset *dataset, const serve_sdmx *sdmx,
                                     cellar_text *out)
{
    structure_open("DataStructure", "", dataset, NULL, out);
    structure_add_names(dataset, dataset->title, NULL, out);
    cellar_text_add_string(out, "<structure:DataStructureComponents>\n");
    structure_add_dimensions(dataset, sdmx, out);
    cellar_text_add_string(out, "<structure:AttributeList id=\"AttributeDescriptor\">\n");
    structure_add_attribute(dataset, "OBS_STATUS",
                            "<structure:PrimaryMeasure><Ref id=\"OBS_VALUE\"/>"
                            "</structure:PrimaryMeasure>",
                            out);
    structure_add_attribute(dataset, "COMMENT_DSET", "<structure:None/>", out);
    cellar_text_add_string(out, "</structure:AttributeList>\n"
                                "<structure:MeasureList id=\"MeasureDescriptor\">"
                                "<structure:PrimaryMeasure id=\"OBS_VALUE\">");
    structure_add_identity(dataset, "OBS_VALUE", out);
    cellar_text_add_string(out, "</structure:PrimaryMeasure></structure:MeasureList>\n"
                                "</structure:DataStructureComponents></structure:DataStructure>\n");
}

static void structure_add_flow(const serve_dataset *dataset, cellar_text *out)
{
    structure_open("Dataflow", "", dataset, NULL, out);
    structure_add_names(dataset, dataset->title, NULL, out);
    cellar_text_printf(out,
                       "<structure:Structure><Ref id=\"%s\" " STRUCTURE_REF
                       " class=\"DataStructure\"/></structure:Structure></structure:Dataflow>\n",
                       dataset->id);
}

/* ---- messages ------------------------------------------------------------------------- */

/* The parts of a structure come in the order that the schema of SDMX prescribes. */
static const struct {
    const char *name;
    void (*add)(const serve_dataset *dataset, const serve_sdmx *sdmx, cellar_text *out);
} structure_parts[] = {{"Codelists", structure_add_codelists},
                       {"Concepts", structure_add_concepts},
                       {"DataStructures", structure_add_definition}};

void serve_sdmx_add_structures(const serve_dataset *datasets, size_t n, cellar_text *out)
{
    serve_sdmx_open_message(out, "Structure", n == 1 ? datasets : NULL);
    cellar_text_add_string(out, "</message:Header>\n<message:Structures>\n");
    for (size_t p = 0; p < sizeof structure_parts / sizeof *structure_parts; p++) {
        cellar_text_printf(out, "<structure:%s>\n", structure_parts[p].name);
        for (size_t i = 0; i < n; i++) {
            serve_sdmx sdmx;
            serve_sdmx_init(&sdmx, &datasets[i]);
            structure_parts[p].add(&datasets[i], &sdmx, out);
        }
        cellar_text_printf(out, "</structure:%s>\n", structure_parts[p].name);
    }
    cellar_text_add_string(out, "</message:Structures>\n</message:Structure>\n");
}

void serve_sdmx_add_flows(const serve_dataset *datasets, size_t n, cellar_text *out)
{
    serve_sdmx_open_message(out, "Structure", n == 1 ? datasets : NULL);
    cellar_text_add_string(out, "</message:Header>\n<message:Structures>\n<structure:Dataflows>\n");
    for (size_t i = 0; i < n; i++)
        structure_add_flow(&datasets[i], out);
    cellar_text_add_string(out,
                           "</structure:Dataflows>\n</message:Structures>\n</message:Structure>\n");
}
