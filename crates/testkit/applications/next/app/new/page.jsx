"use client";

import { useActionState } from "react";
import { addGuest } from "../actions";

export default function Page() {
  const [state, action, isPending] = useActionState(addGuest, {});
  return (
    <main>
      <h1>New guest</h1>
      <form action={action}>
        <p>
          <label>
            Name <input name="name" required />
          </label>
        </p>
        <p>
          <label>
            Seats <input name="seats" type="number" defaultValue={1} />
          </label>
        </p>
        <fieldset>
          <legend>Meal</legend>
          {["meat", "fish", "vegetables"].map((meal) => (
            <label key={meal}>
              <input type="radio" name="meal" value={meal} /> {meal}
            </label>
          ))}
        </fieldset>
        {state.error && <p role="alert">{state.error}</p>}
        <button disabled={isPending}>{isPending ? "Saving…" : "Save"}</button>
      </form>
    </main>
  );
}
