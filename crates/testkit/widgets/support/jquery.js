// Plugins of jQuery extend the global one.
import jQuery from "jquery";

window.$ = window.jQuery = jQuery;
