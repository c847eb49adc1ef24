// Adds the function `audit` to the injected script: the accessibility audit of axe-core, the check of a page, and the check of its links.
import "./own";
import { finish, identify, load, run } from "./audit/axe";
import { core } from "./audit/core";
import { checkLinks } from "./audit/links";
import { checkPage } from "./audit/page";

const steps = {
  load,
  run,
  finish,
  identify,
  page: checkPage,
  links: checkLinks,
  end: () => {
    delete core.audit;
  },
};

core.audit = (question) => (steps[question.step as keyof typeof steps] as (question: unknown) => unknown)(question);
